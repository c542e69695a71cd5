package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.formats.SourceFormat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** The commands that find wrong labels and the next images to label. */
class LabelQualityTest {

    @TempDir Path folder;

    @Test
    void labelErrorsWritesPageAndList() throws IOException {
        Path scenes = TinyRun.shared().scenes();
        JsonNode labels = read(scenes.resolve("annotations_val.json"));
        JsonNode label = labels.path("annotations").get(0);
        String detection =
                "[{\"image_id\": %s, \"category_id\": %s, \"bbox\": [1, 1, 9, 9], \"score\": 0.9}]";
        Path results = folder.resolve("results.json");
        Files.writeString(
                results, detection.formatted(label.path("image_id"), label.path("category_id")));
        Path out = folder.resolve("errors");
        CommandResult output =
                saccade(
                        "label-errors",
                        "--annotations",
                        scenes.resolve("annotations_val.json"),
                        "--images",
                        scenes.resolve("images"),
                        "--results",
                        results,
                        "--out",
                        out);
        assertEquals(0, output.code(), output.err());
        assertTrue(output.err().contains("3 of 4 images have no predictions"), output.err());
        assertEquals(1, read(out.resolve("label_errors.json")).path("inspected_images").asInt());
        assertTrue(Files.readString(out.resolve("index.html")).contains("Suspected label errors"));

        CommandResult wrong =
                saccade(
                        "label-errors",
                        "--annotations",
                        "no.json",
                        "--images",
                        "nowhere",
                        "--results",
                        "none.json");
        assertEquals(2, wrong.code());
        for (String problem :
                List.of(
                        "label-errors: 3 problems",
                        "--annotations no.json: no such file",
                        "--images nowhere: no such folder",
                        "--results none.json: no such file")) {
            assertTrue(wrong.err().contains(problem), wrong.err());
        }
    }

    @Test
    void reportListsLabelErrors() throws IOException {
        Path run = TinyRun.shared().run();
        assertEquals(4, read(run.resolve("label_errors.json")).path("inspected_images").asInt());
    }

    @Test
    void suggestWritesPreAnnotations() throws IOException {
        TinyRun tiny = TinyRun.shared();
        Path out = folder.resolve("next");
        CommandResult output =
                saccade(
                        "suggest",
                        tiny.run(),
                        tiny.scenes(),
                        "--count",
                        3,
                        "--score",
                        0.001,
                        "--format",
                        "cvat,yolo",
                        "--out",
                        out);
        assertEquals(0, output.code(), output.err());
        assertEquals(3, output.out().lines().count(), output.out());
        assertEquals(3, read(out.resolve("suggestions.json")).size());
        String page = Files.readString(out.resolve("index.html"));
        assertTrue(page.contains("Images to label next"), page);
        Pattern counts = Pattern.compile("(?:predicted: |\\G, )(\\d+) [a-z]+");
        long objects =
                counts.matcher(page)
                        .results()
                        .mapToLong(count -> Long.parseLong(count.group(1)))
                        .sum();
        assertTrue(objects > 0);
        assertEquals(objects, page.split("class=\"box predicted\">\\s*<title>", -1).length - 1);
        for (SourceFormat format : new SourceFormat[] {SourceFormat.CVAT, SourceFormat.YOLO}) {
            SourceLabels labels = format.read(out, () -> {});
            assertEquals(3, labels.images().size());
            assertTrue(labels.images().stream().noneMatch(image -> image.isFaulty()));
        }
    }

    @Test
    void suggestRejectsNamesBeforePredicting() throws IOException {
        TinyRun tiny = TinyRun.shared();
        Path images = Files.createDirectories(folder.resolve("unlabeled"));
        Files.writeString(images.resolve("same.jpg"), "");
        Files.writeString(images.resolve("same.png"), "");
        CommandResult output =
                saccade(
                        "suggest",
                        tiny.run(),
                        images,
                        "--format",
                        "yolo",
                        "--out",
                        folder.resolve("next"));
        assertEquals(2, output.code(), output.err());
        assertTrue(output.err().contains("need the same YOLO label file"), output.err());
        assertFalse(Files.exists(folder.resolve("next")));
    }

    @Test
    void convertDataWritesYolo() throws IOException {
        Path out = folder.resolve("yolo");
        CommandResult output =
                saccade(
                        "convert-data",
                        TinyRun.shared().scenes(),
                        "--format",
                        "coco",
                        "--to",
                        "yolo",
                        "--out",
                        out);
        assertEquals(0, output.code(), output.err());
        assertEquals(12, SourceFormat.YOLO.read(out, () -> {}).images().size());
    }

    private static JsonNode read(Path file) throws IOException {
        return new ObjectMapper().readTree(file.toFile());
    }
}
