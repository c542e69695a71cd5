package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.datasets.convert.formats.SourceFormat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs the commands of {@code labeling.md} with a small model and a Label Studio export. */
class LabelingPageTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir Path folder;

    private PageRun page;

    @BeforeEach
    void prepare() throws IOException {
        TinyRun tiny = TinyRun.shared();
        Files.createSymbolicLink(
                Files.createDirectories(folder.resolve("runs")).resolve("tools"),
                tiny.run().toAbsolutePath());
        Path unlabeled = Files.createDirectories(folder.resolve("unlabeled"));
        Path labeled = Files.createDirectories(folder.resolve("labeled"));
        JsonNode coco = JSON.readTree(tiny.scenes().resolve("annotations_train.json").toFile());
        List<Object> tasks = new ArrayList<>();
        for (JsonNode image : coco.get("images")) {
            String name = image.get("file_name").asText();
            Path file = tiny.scenes().resolve("images").resolve(name);
            Files.copy(file, unlabeled.resolve(name));
            Files.copy(file, labeled.resolve("0123abcd-" + name));
            tasks.add(task(image, name, coco));
        }
        JSON.writeValue(labeled.resolve("project.json").toFile(), tasks);
        page = PageRun.in(folder, "labeling.md");
    }

    private static Map<String, Object> task(JsonNode image, String name, JsonNode coco) {
        double width = image.get("width").asDouble();
        double height = image.get("height").asDouble();
        List<Object> regions = new ArrayList<>();
        for (JsonNode object : coco.get("annotations")) {
            if (object.get("image_id").equals(image.get("id"))) {
                Map<String, Object> value = new LinkedHashMap<>();
                value.put("x", 100 * object.at("/bbox/0").asDouble() / width);
                value.put("y", 100 * object.at("/bbox/1").asDouble() / height);
                value.put("width", 100 * object.at("/bbox/2").asDouble() / width);
                value.put("height", 100 * object.at("/bbox/3").asDouble() / height);
                value.put("rectanglelabels", List.of("class" + object.get("category_id")));
                regions.add(
                        Map.of(
                                "type", "rectanglelabels",
                                "original_width", width,
                                "original_height", height,
                                "value", value));
            }
        }
        return Map.of(
                "id", image.get("id"),
                "data", Map.of("image", "/data/upload/1/0123abcd-" + name),
                "annotations", List.of(Map.of("result", regions)));
    }

    @Test
    void thePageLabelsAndTrains() throws Exception {
        page.run(this::quick);
        Path suggestions = folder.resolve("suggestions");
        assertEquals(List.of(SourceFormat.CVAT), SourceFormat.in(suggestions));
        assertTrue(Files.exists(folder.resolve("data/labeled/annotations_train.json")));
        assertTrue(Files.exists(folder.resolve("runs/labeled/checkpoints/last.safetensors")));
    }

    private List<String> quick(List<String> words) {
        List<String> quick = new ArrayList<>(words);
        switch (words.get(1)) {
            case "suggest" ->
                    quick.addAll(List.of("--out", folder.resolve("suggestions").toString()));
            case "new" -> quick.addAll(List.of("--out", folder.resolve("labeled.yaml").toString()));
            case "train" -> {
                for (String setting :
                        List.of(
                                "model.backbone.stem_channels=4",
                                "model.backbone.base_channels=4",
                                "model.neck.out_channels=8",
                                "model.head.feat_channels=8",
                                "epochs=1")) {
                    quick.addAll(List.of("--set", setting));
                }
                quick.addAll(List.of("--out", folder.resolve("runs/labeled").toString()));
            }
            default -> {}
        }
        return quick;
    }
}
