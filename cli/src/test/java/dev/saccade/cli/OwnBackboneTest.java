package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Does what {@code own_backbone.md} says, in a folder that has nothing but the configs. */
class OwnBackboneTest {

    private static final List<String> QUICK =
            List.of(
                    "--set", "epochs=1",
                    "--set", "model.neck.out_channels=8",
                    "--set", "model.head.feat_channels=8");

    @TempDir Path folder;

    @Test
    void thePageLeadsToATrainedDetector() throws Exception {
        Page page = Page.in(folder, "own_backbone.md");
        SceneRenderer renderer = new SceneRenderer(1, new Size(64, 96));
        SceneDataset.write(folder.resolve("runs/demo-scenes"), renderer, 8, 4, n -> {});

        String printed =
                page.run(
                        words ->
                                words.contains("train")
                                        ? Stream.concat(words.stream(), QUICK.stream()).toList()
                                        : words);

        assertTrue(printed.contains("\ntiny_net  "), printed);
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
    }
}
