package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.SampleDraws;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.parts.Backbone;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Detector;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.config.ConfigBinder;
import dev.saccade.models.config.ConfigFile;
import dev.saccade.train.optimizers.AdamW;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Optimizer;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The smallest member of every family under an FPN and RetinaNet, from YAML. */
class EveryBackboneTest {

    private static final Size SIZE = new Size(97, 131);

    static Stream<String> backbones() {
        return ConfigBinder.known(Backbone.Config.class).values().stream()
                .map(
                        family ->
                                family.variants().keySet().stream()
                                        .findFirst()
                                        .map(
                                                v ->
                                                        "{type: %s, variant: %s}"
                                                                .formatted(family.type(), v))
                                        .orElse("{type: %s}".formatted(family.type())));
    }

    @ParameterizedTest
    @MethodSource("backbones")
    void carriesARetinaNetThatLearns(String backbone) {
        String yaml =
                """
                backbone: %s
                neck: {type: fpn, out_channels: 16, start_level: 1, num_outs: 5, add_extra_convs: on_input}
                head: {type: retinanet, feat_channels: 16, stacked_convs: 1}
                """
                        .formatted(backbone);
        ModelConfig config = ConfigBinder.bind(ConfigFile.parse(yaml, "yaml"), ModelConfig.class);
        Detector detector = new Detector(config, List.of("cat", "dog"));
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            detector.initialize(manager, 0);
            Shape shape = new Shape(1, 3, SIZE.height(), SIZE.width());
            ImageBatch batch =
                    new ImageBatch(
                            WeightInit.normal(1).create(manager, shape, new SplittableRandom(0)),
                            List.of(ImageInfo.of(SIZE)));
            try (Optimizer optimizer = new AdamW.Config().build(detector)) {
                double before = step(detector, batch, optimizer);
                double after = step(detector, batch, optimizer);
                assertTrue(after < before, before + " became " + after);
            }
            detector.train(false);
            assertEquals(1, detector.predict(batch).size());
        }
    }

    /** Takes a step on one object and returns the loss before it. */
    private static double step(Detector detector, ImageBatch batch, Optimizer optimizer) {
        Instances target = Instances.groundTruth(Boxes.of(20, 10, 90, 70), 1);
        float[] value = new float[1];
        Supplier<NDArray> loss =
                () -> {
                    NDArray total = detector.losses(batch, List.of(target)).total();
                    value[0] = total.getFloat();
                    return total;
                };
        Gradients gradients =
                SampleDraws.during(
                        0, 0, new long[] {0}, () -> Gradients.of(loss, optimizer.parameters()));
        optimizer.step(gradients, 1e-4);
        return value[0];
    }
}
