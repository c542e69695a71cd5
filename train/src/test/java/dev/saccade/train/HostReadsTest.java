package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import dev.saccade.config.Configs;
import dev.saccade.core.Libtorch;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Model;
import dev.saccade.train.optimizers.AdamW;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Optimizer;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.Map;

/** How often a GPU would be waited for under every head: never in a step before its end. */
class HostReadsTest {

    /** Boxes in one go, masks in another; label maps image by image. */
    @ParameterizedTest
    @CsvSource({
        "retinanet, 1",
        "mask_rcnn, 2",
        "cascade_mask_rcnn, 2",
        "htc, 2",
        "upernet, 2",
        "semantic_fpn, 2",
        "fcn, 2"
    })
    void aStepReadsNothingAndAPredictionItsResults(String head, int results) {
        assumeTrue(Kernels.status().loaded(), Kernels.status().reason());
        Model<?> model =
                EveryCombinationTest.config(
                                "{type: resnet, depth: 18, stem_channels: 8, base_channels: 8}",
                                head)
                        .build(List.of("cat", "dog", "sky"));
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            model.initialize(manager, 0);
            NoiseScene scene = new NoiseScene(manager, 2, new Size(67, 93));
            model.train(true);
            try (Optimizer optimizer = Configs.of(AdamW.Config.class).build(model)) {
                Gradients[] gradients = new Gradients[1];
                Map<String, Integer> learning =
                        reads(() -> gradients[0] = scene.gradients(model, optimizer, loss -> {}));
                assertEquals(Map.of(), learning);
                assertEquals(Map.of(), reads(() -> optimizer.step(gradients[0], 1, 1e-3)));
            }
            model.train(false);
            Map<String, Integer> finding = reads(() -> model.predict(scene.batch()));
            assertEquals(
                    results,
                    finding.values().stream().mapToInt(Integer::intValue).sum(),
                    finding::toString);
        }
    }

    /** Returns what is read where shapes are those of a GPU. */
    private static Map<String, Integer> reads(Runnable body) {
        return HostTransfers.count(
                        () ->
                                DynamicShapes.callWithout(
                                        () -> {
                                            body.run();
                                            return body;
                                        }))
                .reads();
    }
}
