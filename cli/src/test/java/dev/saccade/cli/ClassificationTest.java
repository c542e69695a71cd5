package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Classifies images, from folders to an exported model. */
class ClassificationTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir Path folder;

    private Path data;
    private Path config;
    private Path run;

    @BeforeEach
    void prepare() {
        data = folder.resolve("cells");
        config = folder.resolve("cells.yaml");
        run = folder.resolve("run");
    }

    private void writeSplits() {
        ClassFolders.write(data.resolve("train"), 0, 8);
        ClassFolders.write(data.resolve("val"), 8, 3);
    }

    private static CommandResult succeed(Object... arguments) {
        CommandResult ended = saccade(arguments);
        assertEquals(0, ended.code(), List.of(arguments) + ": " + ended.err());
        return ended;
    }

    private CommandResult train(String... settings) {
        List<Object> arguments = new ArrayList<>(List.of("train", config, "--out", run));
        List<String> all = new ArrayList<>(ClassFolders.SMALL);
        all.addAll(List.of(settings));
        all.forEach(setting -> arguments.addAll(List.of("--set", setting)));
        return succeed(arguments.toArray());
    }

    @Test
    void trainsEvaluatesPredictsAndExports() throws IOException {
        writeSplits();
        CommandResult written = succeed("new", data, "--out", config);
        assertTrue(written.err().contains("3 classes: Platelets 8, RBC 8, WBC 8."), written.err());
        CommandResult checked = succeed("check", config);
        assertTrue(checked.out().contains("val: 9 images of 3 classes"), checked.out());

        CommandResult trained = train("iterations=6");
        assertTrue(trained.err().contains("top1"), trained.err());

        CommandResult evaluated = succeed("eval", run, "--flip", "--json");
        double top1 = JSON.readTree(evaluated.out()).findValue("top1").asDouble();
        assertTrue(top1 >= 0 && top1 <= 1, evaluated.out());

        Path found = folder.resolve("found");
        CommandResult predicted = succeed("predict", run, data.resolve("val/RBC"), "--out", found);
        assertTrue(predicted.err().contains(" in 3 images, written to "), predicted.err());
        JsonNode image = JSON.readTree(Files.readString(found.resolve("predictions.json"))).get(0);
        double sum = 0;
        for (JsonNode each : image.get("classes")) {
            assertEquals(
                    ClassFolders.CLASSES.get(each.get("classIndex").asInt()),
                    each.get("label").asText());
            sum += each.get("score").asDouble();
        }
        assertEquals(1, sum, 1e-4);
        assertTrue(Files.exists(found.resolve(image.get("picture").asText())));

        succeed("report", run);
        String report = Files.readString(run.resolve("report.html"));
        for (String text : List.of("Most confident mistakes", "Confusion matrix", "Per-class")) {
            assertTrue(report.contains(text), text);
        }
        assertFalse(report.contains("Score threshold"), "score slider of detectors");

        Path exported = folder.resolve("exported");
        succeed("export", run, "--format", "onnx", "--out", exported);
        JsonNode model = JSON.readTree(Files.readString(exported.resolve("model.json")));
        assertEquals("logits", model.get("outputs").get(0).get("name").asText());
        assertEquals(3, model.get("classes").size());
    }

    @Test
    void splitsFoldersWithoutValidationSet() {
        ClassFolders.write(data, 0, 10);
        CommandResult written = succeed("new", data, "--out", config);
        assertTrue(written.err().contains("has no validation folder, such as val"), written.err());
        assertTrue(RunConfig.load(config).data().val().isPresent());
        CommandResult checked = succeed("check", config);
        assertTrue(checked.out().contains("train: 24 images of 3 classes"), checked.out());
        assertTrue(checked.out().contains("val: 6 images of 3 classes"), checked.out());
    }

    @Test
    void browseShowsAllClasses() throws IOException {
        writeSplits();
        succeed("new", data, "--out", config);
        Path out = folder.resolve("browse");
        succeed("browse", config, "--out", out, "--count", "3", "--image-size", "40x32");
        String page = Files.readString(out.resolve("index.html"));
        for (String name : ClassFolders.CLASSES) {
            assertTrue(page.contains(name + "/0.png"), name);
        }
        assertFalse(page.contains("/1.png"), page);
    }

    @Test
    void checkFindsErrorsInFolders() throws IOException {
        writeSplits();
        Files.copy(
                data.resolve("train/RBC/1.png"), data.resolve("val/WBC/copy of another class.png"));
        Files.writeString(data.resolve("train/WBC/damaged.png"), "no image");
        Files.createDirectories(data.resolve("train/empty"));
        Files.createDirectories(data.resolve("val/empty"));

        CommandResult checked = saccade("check", data);

        assertEquals(2, checked.code(), checked.err());
        for (String text : List.of("damaged.png", "\"empty\" has no images", "copy of another")) {
            assertTrue(checked.out().contains(text), text + " expected in " + checked.out());
        }
    }

    @Test
    void rejectsDifferentClassesInTheSplits() throws IOException {
        writeSplits();
        Files.move(data.resolve("val/WBC"), data.resolve("val/White"));
        CommandResult written = saccade("new", data, "--out", config);
        assertEquals(2, written.code());
        assertTrue(
                written.err()
                        .contains(
                                "data.val: lacks the class \"WBC\" of data.train and has the class"
                                        + " \"White\", which data.train lacks"),
                written.err());
        assertFalse(Files.exists(config));
    }

    @Test
    void crossValidatesAndBrowses() throws IOException {
        writeSplits();
        succeed("new", data, "--out", config);
        Path browsed = folder.resolve("browse");
        succeed("browse", config, "--out", browsed);
        assertTrue(Files.readString(browsed.resolve("index.html")).contains("Platelets"));

        List<Object> arguments =
                new ArrayList<>(
                        List.of("cross-validate", config, "--folds", "2", "--set", "iterations=2"));
        ClassFolders.SMALL.forEach(setting -> arguments.addAll(List.of("--set", setting)));
        arguments.addAll(List.of("--out", folder.resolve("crossval")));
        CommandResult ended = succeed(arguments.toArray());
        assertTrue((ended.out() + ended.err()).contains("top1"), ended.out() + ended.err());
    }

    @Test
    void startsDetectorsFromClassifiers() {
        writeSplits();
        succeed("new", data, "--out", config);
        train("iterations=1");
        CommandResult suggested =
                succeed(
                        "suggest",
                        run,
                        data.resolve("val/RBC"),
                        "--out",
                        folder.resolve("suggested"));
        assertTrue(suggested.out().contains("best class"), suggested.out());
        CommandResult tiled =
                saccade("predict", run, data.resolve("val/RBC"), "--tiles", "32x32", "--out", run);
        assertTrue(tiled.err().contains("do not split it into tiles"), tiled.err());
    }
}
