package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.types.Shape;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Runs the commands of {@code extending.md} in a folder with configs only. */
class CustomBackboneTest {

    private static final List<String> QUICK =
            List.of(
                    "--set", "epochs=1",
                    "--set", "model.neck.out_channels=8",
                    "--set", "model.head.feat_channels=8");

    private static final List<String> AT_ONCE =
            List.of("--set", "epochs=3", "--set", "hooks=[{type: stop_at, value: 0}]");

    @TempDir Path folder;

    @Test
    void pageLeadsToTrainedDetector() throws Exception {
        PageRun page = PageRun.in(folder, "extending.md");
        SceneRenderer renderer = new SceneRenderer(1, new Size(64, 96));
        SceneDataset.write(folder.resolve("runs/demo-scenes"), renderer, 8, 4, n -> {});

        String printed =
                page.run(
                        words -> {
                            List<String> quick =
                                    words.contains("train")
                                            ? QUICK
                                            : words.contains("--backbones")
                                                    ? List.of("--json")
                                                    : List.of();
                            String hooked = folder.resolve("mine/stop_at.yaml").toString();
                            List<String> stopping = words.contains(hooked) ? AT_ONCE : List.of();
                            return Stream.of(words, quick, stopping).flatMap(List::stream).toList();
                        });

        assertListsBackbones(printed);
        Path best = folder.resolve("runs/tiny_net/checkpoints/best.safetensors");
        assertTrue(
                Checkpoints.open(best).tensors().containsKey("backbone.stage0.conv.weight"),
                "the detector has another backbone");
        Map<String, Tensor> keras =
                Checkpoints.open(folder.resolve("mine/keras.safetensors")).tensors();
        assertEquals(new Shape(3, 3, 16, 32), keras.get("block2.kernel").shape());
        assertEquals(4 * 5, keras.size());
        String again = printed.substring(printed.indexOf("keras.safetensors: "));
        assertTrue(again.contains("loaded 20 of "), again);
        String log = Files.readString(folder.resolve("runs/stop_at/train.log"));
        assertTrue(
                log.matches("(?s).*evaluation after 4 steps: .*AP50 is [0-9.E-]+: stopping\n"),
                log);
        assertTrue(log.matches("(?s).*evaluation after 4 steps: .*count_accuracy [01].*"), log);
    }

    /** Checks the output of {@code info --backbones --json}. */
    private static void assertListsBackbones(String printed) throws IOException {
        Map<String, JsonNode> backbones = new HashMap<>();
        try (JsonParser parser =
                new ObjectMapper().createParser(printed.substring(printed.indexOf("[ {")))) {
            JsonNode list = parser.readValueAsTree();
            list.forEach(each -> backbones.put(each.path("name").asText(), each));
        }
        assertTrue(backbones.keySet().containsAll(List.of("tiny_net", "resnet50", "swin_tiny")));
        JsonNode swin = backbones.get("swin_tiny");
        assertEquals(27_520_698, swin.path("parameters").asLong());
        assertEquals(28_288_354, swin.path("classifier_parameters").asLong());
        assertEquals(4.49e9, swin.path("multiply_adds").asDouble(), 0.01e9);
        assertFalse(swin.has("training_parameters"));
    }
}
