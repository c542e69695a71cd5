package dev.saccade.heads.segmentation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;

class PixelCrossEntropyTest {

    /** Reference implementation with PyTorch operators in float64. */
    private static final ScriptTemplate COMPOSED =
            ScriptTemplate.of(
                    "(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor",
                    """
                    size = [torch.size(labels, 1), torch.size(labels, 2)]
                    scores = torch.upsample_bilinear2d(torch.to(logits, 7), size, {align_corners})
                    return torch.cross_entropy_loss(scores, labels, torch.to(weights, 7), 2, -1)
                    """);

    private final NDManager manager = NDManager.newBaseManager("PyTorch");
    private final SplittableRandom random = new SplittableRandom(5);

    @AfterEach
    void free() {
        manager.close();
    }

    private NDArray logits(int images, int classes, int h, int w) {
        Shape shape = new Shape(images, classes, h, w);
        NDArray logits = manager.randomNormal(0, 3, shape, DataType.FLOAT32);
        return MemoryFormat.channelsLast(logits);
    }

    private NDArray labels(int images, int classes, int h, int w, double ignored) {
        long[] labels = new long[images * h * w];
        Arrays.setAll(
                labels,
                i -> random.nextDouble() < ignored ? LabelMap.IGNORE : random.nextInt(classes));
        return manager.create(labels, new Shape(images, h, w));
    }

    @ParameterizedTest
    @MethodSource
    void matchesPyTorchIncludingGradients(
            int images, int classes, Size map, Size size, double ignored) {
        NDArray labels = labels(images, classes, size.height(), size.width(), ignored);
        Double[] classWeight = new Double[classes];
        Arrays.setAll(classWeight, i -> (double) (float) random.nextDouble(0.1, 2));
        long valid = Arrays.stream(labels.toLongArray()).filter(label -> label >= 0).count();
        for (List<Double> weights : List.of(List.<Double>of(), List.of(classWeight))) {
            for (boolean align : new boolean[] {false, true}) {
                for (boolean avgNonIgnore : new boolean[] {false, true}) {
                    NDArray logits = logits(images, classes, map.height(), map.width());
                    double divisor = avgNonIgnore ? Math.max(1, valid) : labels.size();
                    PixelCrossEntropy loss = new PixelCrossEntropy(0.4, weights, avgNonIgnore);
                    assertEqual(loss, logits, labels, align, 0.4 / divisor);
                }
            }
        }
    }

    static List<Arguments> matchesPyTorchIncludingGradients() {
        return List.of(
                arguments(2, 7, new Size(6, 8), new Size(24, 32), 0.1),
                arguments(1, 3, new Size(5, 7), new Size(17, 29), 0.5),
                arguments(3, 2, new Size(1, 1), new Size(4, 5), 0),
                arguments(1, 1, new Size(3, 2), new Size(9, 8), 0.3),
                arguments(2, 4, new Size(9, 9), new Size(5, 6), 0.2),
                arguments(1, 5, new Size(1, 1), new Size(1, 1), 0),
                arguments(1, 150, new Size(16, 16), new Size(64, 64), 0.2),
                arguments(2, 4, new Size(5, 6), new Size(21, 22), 1));
    }

    /** Compares values and gradients of the scaled loss. */
    private void assertEqual(
            PixelCrossEntropy loss, NDArray logits, NDArray labels, boolean align, double scale) {
        NDArray reference = logits.duplicate();
        logits.setRequiresGradient(true);
        reference.setRequiresGradient(true);
        float[] values = new float[2];
        NDArray gradient =
                gradient(
                        logits,
                        () -> {
                            NDArray value = mean(loss, logits, labels, align);
                            values[0] = value.getFloat();
                            return value.mul(manager.create(3f));
                        });
        NDArray expected =
                gradient(
                        reference,
                        () -> {
                            NDArray sum = composed(loss, reference, labels, align);
                            NDArray value = sum.mul(manager.create(scale));
                            values[1] = (float) value.getDouble();
                            return value.mul(manager.create(3.0));
                        });
        assertEquals(values[1], values[0], 1e-6 * Math.max(1, Math.abs(values[1])));
        float largest = expected.abs().max().getFloat();
        // p - 1 is as inexact as p if p is nearly 1.
        float rounding = 6e-7f * (float) scale;
        assertArrayEquals(
                expected.toFloatArray(), gradient.toFloatArray(), 2e-6f * largest + rounding);
    }

    private NDArray composed(
            PixelCrossEntropy loss, NDArray logits, NDArray labels, boolean align) {
        float[] weights = new float[(int) logits.getShape().get(1)];
        Arrays.fill(weights, 1);
        for (int i = 0; i < loss.classWeight().size(); i++) {
            weights[i] = loss.classWeight().get(i).floatValue();
        }
        return COMPOSED.with(Map.of("align_corners", align))
                .run(logits, labels, manager.create(weights));
    }

    /** Averages the loss as heads do. */
    private static NDArray mean(
            PixelCrossEntropy loss, NDArray logits, NDArray labels, boolean align) {
        NDArray sum = loss.sums(logits, labels, align).get(0);
        return sum.div(loss.avgFactor(labels));
    }

    private static NDArray gradient(NDArray by, Supplier<NDArray> loss) {
        return Autograd.gradients(loss, List.of(by)).singletonOrThrow();
    }

    @Test
    void gradientsOfASumAddUp() {
        NDArray logits = logits(2, 4, 5, 6);
        NDArray labels = labels(2, 4, 20, 24, 0.2);
        PixelCrossEntropy loss = Configs.of(PixelCrossEntropy.class);
        logits.setRequiresGradient(true);
        NDArray once = gradient(logits, () -> mean(loss, logits, labels, false));
        NDArray twice =
                gradient(
                        logits,
                        () ->
                                mean(loss, logits, labels, false)
                                        .add(mean(loss, logits, labels, false)));
        assertArrayEquals(once.mul(2).toFloatArray(), twice.toFloatArray(), 1e-9f);
    }

    @Test
    void countsIgnoredPixelsAmongAll() {
        float[] scores = {3, 1, 2, 5, 0, 4, 1, 1};
        NDArray logits = manager.create(scores, new Shape(1, 2, 2, 2));
        long[] truth = {0, LabelMap.IGNORE, 0, 1};
        NDArray labels = manager.create(truth, new Shape(1, 2, 2));
        NDList sums = Configs.of(PixelCrossEntropy.class).sums(logits, labels, false);
        assertEquals(2, sums.get(1).getFloat());
        assertEquals(4, Configs.of(PixelCrossEntropy.class).avgFactor(labels).getFloat());
        assertEquals(3, new PixelCrossEntropy(1, List.of(), true).avgFactor(labels).getFloat());
    }

    @Test
    void rejectsAWrongNumberOfClassWeights() {
        PixelCrossEntropy loss = new PixelCrossEntropy(1, List.of(1.0, 2.0), false);
        loss.checkFits(2);
        assertThrows(IllegalArgumentException.class, () -> loss.checkFits(3));
    }
}
