package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Runs the commands of {@code classification.md} with a small model and small images. */
class ClassificationPageTest {

    @TempDir Path folder;

    private PageRun page;

    @BeforeEach
    void prepare() throws IOException {
        ClassFolders.write(folder.resolve("data/cells/train"), 0, 6);
        ClassFolders.write(folder.resolve("data/cells/val"), 6, 2);
        ClassFolders.writeImage(folder.resolve("photo.jpg"), 2, 9);
        SceneDataset.write(
                folder.resolve("data/bccd"), new SceneRenderer(1, new Size(64, 96)), 4, 2, n -> {});
        page = PageRun.in(folder, "classification.md");
    }

    @Test
    void thePageTrainsAClassifier() throws Exception {
        String printed = page.run(this::quick);

        assertEquals(1, page.outputs().size(), "outputs on the page");
        assertTrue(printed.contains("top1"), printed);
        JsonNode found =
                new ObjectMapper()
                        .readTree(Files.readString(folder.resolve("found/predictions.json")))
                        .get(0)
                        .get("classes");
        String best = found.get(0).get("label").asText();
        assertTrue(ClassFolders.CLASSES.contains(best), best);
        for (String line : List.of(" [01]\\.\\d\\d in 1 image", " 0\\.\\d{3,}")) {
            assertTrue(Pattern.compile(best + line).matcher(printed).find(), line + ": " + printed);
        }
        for (String file :
                List.of(
                        "browse/index.html",
                        "runs/cells/report.html",
                        "exported/cells/model.onnx",
                        "found/photo.jpg")) {
            assertTrue(Files.exists(folder.resolve(file)), file);
        }
    }

    private List<String> quick(List<String> words) {
        List<String> quick = new ArrayList<>(words);
        String yaml = folder.resolve("cells.yaml").toString();
        switch (words.get(1)) {
            case "new" -> quick.addAll(List.of("--out", yaml));
            case "browse" -> quick.addAll(List.of("--out", folder.resolve("browse").toString()));
            case "train" -> {
                boolean isDetector = !words.contains(yaml);
                List<String> settings = new ArrayList<>(List.of("iterations=2"));
                if (isDetector) {
                    quick.addAll(List.of("--data", folder.resolve("data/bccd").toString()));
                    settings.add("model.backbone.stem_channels=4");
                    settings.add("model.backbone.base_channels=4");
                    settings.add("data.image_size=[96, 64]");
                    settings.add("schedule.warmup.iterations=0");
                } else {
                    settings.addAll(ClassFolders.SMALL);
                }
                settings.forEach(setting -> quick.addAll(List.of("--set", setting)));
                String run = isDetector ? "runs/detector" : "runs/cells";
                quick.addAll(List.of("--out", folder.resolve(run).toString()));
            }
            default -> {}
        }
        return quick;
    }
}
