package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.structures.Rle;
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
import java.util.Arrays;
import java.util.List;

/** Commands with a head that predicts masks. */
class MasksTest {

    private static final Path RECIPE = Path.of("..", "configs/retinanet/resnet18_fpn_demo.yaml");

    @TempDir Path folder;

    @BeforeEach
    void render() {
        SceneDataset.write(
                folder.resolve("scenes"), new SceneRenderer(1, new Size(64, 96)), 4, 2, n -> {});
    }

    private CommandResult onScenes(String command, Object... more) {
        List<Object> args =
                new ArrayList<>(List.of(command, RECIPE, "--data", folder.resolve("scenes")));
        args.addAll(List.of("--set", "model.head={type: center}", "--set", "epochs=1"));
        args.addAll(List.of("--set", "model.backbone.base_channels=4"));
        args.addAll(List.of("--set", "model.neck.out_channels=8"));
        args.addAll(List.of(more));
        return saccade(args.toArray());
    }

    @Test
    void masksAreTrainedDrawnAndWritten() throws IOException {
        Path run = folder.resolve("run");
        CommandResult trained = onScenes("train", "--out", run);
        assertEquals(0, trained.code(), trained.err());

        Path found = folder.resolve("found");
        Path photo = folder.resolve("scenes/images/scene_0001.jpg");
        assertEquals(0, saccade("predict", run, photo, "--out", found).code());
        JsonNode objects =
                new ObjectMapper()
                        .readTree(found.resolve("predictions.json").toFile())
                        .path(0)
                        .path("objects");
        JsonNode mask = objects.path(0).path("segmentation");
        assertEquals("[64,96]", mask.path("size").toString());
        assertEquals(
                new Rle.Bounds(24, 16, 48, 32),
                Rle.fromString(new Size(64, 96), mask.path("counts").asText()).bounds());
        String score = objects.path(0).path("score").asText();
        assertEquals(Float.toString(Float.parseFloat(score)), score);
        for (String edge : List.of("x", "y", "width", "height")) {
            String text = objects.path(0).path(edge).asText();
            assertEquals(Float.toString(Float.parseFloat(text)), text);
        }

        Path masks = folder.resolve("masks");
        Path boxes = folder.resolve("boxes");
        assertEquals(0, onScenes("browse", "--out", masks, "--count", "1").code());
        onScenes("browse", "--out", boxes, "--count", "1", "--set", "model.head={type: retinanet}");
        byte[] drawn = Files.readAllBytes(masks.resolve("scene_0001.jpg"));
        assertFalse(Arrays.equals(drawn, Files.readAllBytes(boxes.resolve("scene_0001.jpg"))));
    }

    @Test
    void missingMasksFailBeforeTraining() throws IOException {
        Path labels = folder.resolve("scenes").resolve(SceneDataset.TRAIN);
        String json = Files.readString(labels);
        Files.writeString(
                labels, json.replaceFirst("\"segmentation\":\\[\\[.*?\\]\\]", "\"other\":0"));
        String missing = "annotation 1 of image 1 (scene_0001.jpg): has no segmentation";
        CommandResult checked = onScenes("check");
        assertEquals(2, checked.code());
        assertTrue(checked.out().contains(missing), checked.out());

        Path run = folder.resolve("run");
        CommandResult refused = onScenes("train", "--out", run);
        assertEquals(2, refused.code());
        assertTrue(refused.err().contains(missing), refused.err());
        assertFalse(Files.exists(run));
        assertEquals(0, onScenes("check", "--set", "model.head={type: retinanet}").code());
    }
}
