package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.config.Configs;
import dev.saccade.core.Libtorch;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Model;
import dev.saccade.models.SegmentationModel;
import dev.saccade.train.optimizers.AdamW;
import dev.saccade.train.optimizers.Gradients;
import dev.saccade.train.optimizers.Optimizer;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Every backbone under every head: losses, gradients, a step and what is predicted after it, on a
 * GPU beside the CPU in float32.
 */
@Tag("gpu")
class GpuModelsTest {

    private static final Size SIZE = new Size(67, 93);
    private static final List<String> CLASSES = List.of("cat", "dog", "sky");
    private static final int BEST = 10;

    /** DJL knows no bfloat16. */
    private static final Script FLOAT =
            Script.compile("(x: Tensor) -> Tensor", "return torch.to(x, 6)");

    /**
     * What a model says of two images.
     *
     * @param loss before the step
     * @param norm of all gradients
     * @param predicted after the step: the highest scores of all objects, descending, or the mean
     *     and the mean square of all logits
     */
    private record Said(double loss, double norm, List<Double> predicted) {}

    /**
     * How far numbers may be apart, relative to those of the CPU; scores absolutely.
     *
     * @param loss of losses
     * @param norm of norms
     * @param score of predictions
     */
    private record Tolerance(double loss, double norm, double score) {

        static Tolerance of(Precision precision, String head) {
            // Which proposals are learned from hangs on the order of nearly equal scores.
            boolean proposes = EveryCombinationTest.PROPOSING.contains(head);
            return switch (precision) {
                case FLOAT32 ->
                        proposes ? new Tolerance(0.05, 0.3, 0.05) : new Tolerance(1e-3, 1e-2, 5e-3);
                case FLOAT16 -> new Tolerance(0.1, proposes ? 0.5 : 0.1, 0.1);
                case BFLOAT16 -> new Tolerance(0.1, proposes ? 0.5 : 0.2, 0.1);
            };
        }
    }

    @BeforeAll
    static void requireDevice() {
        DeviceUnderTest.device();
    }

    static Stream<Arguments> in16Bits() {
        return EveryCombinationTest.combinations()
                .flatMap(
                        both ->
                                Stream.of(Precision.BFLOAT16, Precision.FLOAT16)
                                        .map(
                                                bits ->
                                                        Arguments.of(
                                                                both.get()[0],
                                                                both.get()[1],
                                                                bits)));
    }

    @ParameterizedTest
    @MethodSource("dev.saccade.train.EveryCombinationTest#combinations")
    void stepAndPredictionEqualTheCpu(String backbone, String head) {
        assertSaysWhatTheCpuSays(backbone, head, Precision.FLOAT32);
    }

    @ParameterizedTest
    @MethodSource("in16Bits")
    void in16BitsTheyAreClose(String backbone, String head, Precision precision) {
        assertSaysWhatTheCpuSays(backbone, head, precision);
    }

    private static void assertSaysWhatTheCpuSays(
            String backbone, String head, Precision precision) {
        Said expected = said(backbone, head, Precision.FLOAT32, Device.cpu());
        Said found = said(backbone, head, precision, DeviceUnderTest.device());
        Tolerance tolerance = Tolerance.of(precision, head);
        assertNear(expected.loss, found.loss, tolerance.loss, "loss");
        assertNear(expected.norm, found.norm, tolerance.norm, "gradient norm");
        int compared = Math.min(expected.predicted.size(), found.predicted.size());
        assertTrue(compared > 0, "nothing was predicted");
        for (int i = 0; i < compared; i++) {
            double value = expected.predicted.get(i);
            assertEquals(
                    value,
                    found.predicted.get(i),
                    tolerance.score * Math.max(1, Math.abs(value)),
                    "prediction " + i);
        }
    }

    private static void assertNear(double expected, double found, double tolerance, String what) {
        assertEquals(expected, found, tolerance * Math.abs(expected), what);
    }

    private static Said said(String backbone, String head, Precision precision, Device device) {
        Model<?> model = EveryCombinationTest.config(backbone, head).build(CLASSES);
        try (NDManager manager = Libtorch.newManager(device)) {
            model.initialize(manager, 0);
            NoiseScene scene = new NoiseScene(manager, 2, SIZE);
            double[] loss = new double[1];
            double norm;
            model.train(true);
            try (Optimizer optimizer = Configs.of(AdamW.Config.class).build(model)) {
                Gradients gradients =
                        Autocast.call(
                                precision,
                                device,
                                () -> scene.gradients(model, optimizer, x -> loss[0] = x));
                norm = gradients.norms().total();
                optimizer.step(gradients, 1, 1e-4);
            }
            model.train(false);
            List<Double> predicted =
                    NoGrad.call(
                            () -> Autocast.call(precision, device, () -> predicted(model, scene)));
            return new Said(loss[0], norm, predicted);
        }
    }

    private static List<Double> predicted(Model<?> model, NoiseScene scene) {
        if (model instanceof SegmentationModel segmenter) {
            NDArray logits = FLOAT.run(segmenter.logits(scene.batch().pixels()));
            return List.of(
                    (double) logits.mean().getFloat(), (double) logits.square().mean().getFloat());
        }
        return model.predict(scene.batch()).stream()
                .map(Instances.class::cast)
                .flatMap(
                        objects ->
                                IntStream.range(0, objects.size())
                                        .mapToObj(i -> (double) objects.score(i)))
                .sorted(Comparator.reverseOrder())
                .limit(BEST)
                .toList();
    }
}
