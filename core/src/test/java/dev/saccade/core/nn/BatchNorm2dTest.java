package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.training.GradientCollector;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.OperatorLibrary;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class BatchNorm2dTest {

    private static final int[] AXIS = {1};

    private final NDManager manager = NDManager.newBaseManager("PyTorch");
    private final BatchNorm2d norm = new BatchNorm2d(3);

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void normalizesChannelsInTraining() {
        norm.initialize(manager, 0);
        NDArray y = norm.apply(manager.randomNormal(new Shape(4, 3, 6, 7)).mul(2).add(5));
        NDArray channels = y.transpose(1, 0, 2, 3).reshape(3, -1);
        assertEquals(0, channels.mean(AXIS).abs().max().getFloat(), 1e-5);
        assertEquals(1, channels.square().mean(AXIS).min().getFloat(), 1e-3);
        assertEquals(1, channels.square().mean(AXIS).max().getFloat(), 1e-3);
    }

    /** Recorded from PyTorch's {@code BatchNorm2d(2, eps=1e-3)}. */
    @Test
    void addsEpsToTheVariance() {
        BatchNorm2d wide = new BatchNorm2d(2, BatchNormType.BN, 1e-3, WeightInit.ONES);
        wide.initialize(manager, 0);
        set(wide, "weight", 2, 3);
        set(wide, "bias", 0.5f, -1);
        set(wide, "running_mean", 0.25f, 1);
        set(wide, "running_var", 0.0001f, 0.02f);
        wide.train(false);

        NDArray x = manager.create(new float[] {1, 2}, new Shape(1, 2, 1, 1));
        assertArrayEquals(new float[] {45.7267f, 19.701967f}, wide.apply(x).toFloatArray(), 1e-4f);
        NDList affine = wide.affine();
        NDArray scaled = affine.get(0).mul(x.flatten()).add(affine.get(1));
        assertArrayEquals(new float[] {45.7267f, 19.701967f}, scaled.toFloatArray(), 1e-4f);
        wide.train(true);
        NDArray batch = manager.create(new float[] {.01f, .02f, 1, 1.1f}, new Shape(1, 2, 1, 2));
        assertArrayEquals(
                new float[] {0.18765247f, 0.81234753f, -3.5354614f, 1.5354642f},
                wide.apply(batch).toFloatArray(),
                1e-4f);
    }

    private static void set(BatchNorm2d norm, String name, float... values) {
        norm.namedParameters().get(name).getArray().set(values);
    }

    /** Few and many channels and rows, in training and with frozen statistics. */
    @ParameterizedTest
    @CsvSource({
        "3, true, true, true",
        "17, true, true, false",
        "64, true, false, true",
        "200, true, false, false",
        "64, false, true, true",
        "5, false, false, false"
    })
    void fusedEqualsPortableWithGradients(
            int channels, boolean training, boolean residual, boolean relu) {
        Shape shape = new Shape(3, channels, 67, 41);
        NDArray x = channelsLast(manager.randomNormal(shape).mul(3).add(20));
        NDArray added = channelsLast(manager.randomNormal(shape));
        NDArray output =
                manager.create(
                        results(channels, training, false, x, residual ? added : null, x).get(0),
                        x.getShape());
        // Rounding decides on which side of ReLU's kink an output near 0 is.
        NDArray factor =
                channelsLast(manager.randomNormal(shape))
                        .mul(output.abs().gt(1e-3f).toType(DataType.FLOAT32, false));
        List<float[]> portable =
                OperatorLibrary.callPortable(
                        () ->
                                results(
                                        channels,
                                        training,
                                        relu,
                                        x,
                                        residual ? added : null,
                                        factor));
        List<float[]> fused = results(channels, training, relu, x, residual ? added : null, factor);
        assertEquals(portable.size(), fused.size());
        for (int i = 0; i < portable.size(); i++) {
            double size = 0;
            for (float value : portable.get(i)) {
                size = Math.max(size, Math.abs(value));
            }
            assertArrayEquals(portable.get(i), fused.get(i), (float) (2e-5 * size), "result " + i);
        }
    }

    private static NDArray channelsLast(NDArray x) {
        return x.transpose(0, 2, 3, 1).duplicate().transpose(0, 3, 1, 2);
    }

    /** Returns the output, the running statistics and all gradients. */
    private List<float[]> results(
            int channels,
            boolean training,
            boolean relu,
            NDArray x,
            NDArray residual,
            NDArray factor) {
        BatchNorm2d layer = new BatchNorm2d(channels);
        layer.initialize(manager, 0);
        Map<String, Parameter> parameters = layer.namedParameters();
        NDArray running = parameters.get("running_mean").getArray();
        NDArray spread = manager.arange(channels).div(channels);
        running.addi(spread.mul(9).add(15));
        parameters.get("running_var").getArray().addi(spread);
        List<NDArray> by = new ArrayList<>(List.of(x));
        for (String name : List.of("weight", "bias")) {
            NDArray array = parameters.get(name).getArray();
            array.addi(spread.sub(0.5f));
            by.add(array);
        }
        if (residual != null) {
            by.add(residual);
        }
        by.forEach(array -> array.setRequiresGradient(true));
        layer.train(training);
        NDList values = new NDList();
        values.addAll(
                Autograd.gradients(
                        () -> {
                            NDArray y = layer.forward(x, Optional.ofNullable(residual), relu);
                            values.add(y.duplicate());
                            return y.mul(factor).sum();
                        },
                        by));
        values.add(running);
        values.add(parameters.get("running_var").getArray());
        return values.stream().map(NDArray::toFloatArray).toList();
    }

    /** PyTorch's statistics of a map in channels-last layout have relative errors of 1e-4. */
    @Test
    void statisticsOfLargeMapsAreAccurate() {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        BatchNorm2d layer = new BatchNorm2d(8);
        layer.initialize(manager, 0);
        NDArray x = channelsLast(manager.randomNormal(new Shape(2, 8, 400, 400)).add(10));
        layer.apply(x);
        NDArray rows = x.toType(DataType.FLOAT64, true).transpose(1, 0, 2, 3).reshape(8, -1);
        NDArray mean = rows.mean(AXIS).mul(0.1);
        assertArrayEquals(
                mean.toType(DataType.FLOAT32, true).toFloatArray(),
                layer.namedParameters().get("running_mean").getArray().toFloatArray(),
                1e-6f);
        NDArray variance = rows.sub(rows.mean(AXIS, true)).square().sum(AXIS).div(320_000 - 1);
        assertArrayEquals(
                variance.mul(0.1).add(0.9).toType(DataType.FLOAT32, true).toFloatArray(),
                layer.namedParameters().get("running_var").getArray().toFloatArray(),
                1e-6f);
    }

    @Test
    void rejectsOneValuePerChannelInTraining() {
        norm.initialize(manager, 0);
        NDArray pooled = manager.randomNormal(new Shape(1, 3, 1, 1));
        SaccadeException e = assertThrows(SaccadeException.class, () -> norm.apply(pooled));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(e.getMessage().contains("at least 2 images per batch"), e.getMessage());
        norm.train(false);
        assertEquals(pooled.getShape(), norm.apply(pooled).getShape());
    }

    @Test
    void ignoresPaddingSamples() {
        NDArray real = manager.randomNormal(new Shape(4, 3, 6, 7)).mul(2).add(5);
        NDArray cotangent = manager.randomNormal(real.getShape());
        NDArray fillers = manager.full(new Shape(2, 3, 6, 7), 1000f);
        Trained alone = trained(real, Optional.empty(), cotangent);
        Trained among =
                trained(
                        real.concat(fillers),
                        Optional.of(manager.create(new float[] {1, 1, 1, 1, 0, 0})),
                        cotangent.concat(fillers.zerosLike()));
        assertArrayEquals(alone.y.toFloatArray(), among.y.get(":4").toFloatArray(), 1e-5f);
        assertArrayEquals(
                alone.gradient.toFloatArray(), among.gradient.get(":4").toFloatArray(), 1e-5f);
        assertEquals(0, among.gradient.get("4:").abs().max().getFloat());
        for (int i = 0; i < alone.parameters.size(); i++) {
            assertArrayEquals(alone.parameters.get(i), among.parameters.get(i), 1e-4f, "of " + i);
        }
    }

    @Test
    void onlyPaddingKeepsStatistics() {
        norm.initialize(manager, 0);
        NDArray y =
                norm.forward(
                        manager.randomNormal(new Shape(2, 3, 4, 4)), manager.zeros(new Shape(2)));
        assertTrue(Float.isFinite(y.sum().getFloat()));
        Map<String, Parameter> parameters = norm.namedParameters();
        assertEquals(0, parameters.get("running_mean").getArray().abs().max().getFloat());
        assertEquals(1, parameters.get("running_var").getArray().min().getFloat());
    }

    private record Trained(NDArray y, NDArray gradient, List<float[]> parameters) {}

    /** Returns output, input gradient, running statistics and parameter gradients. */
    private Trained trained(NDArray x, Optional<NDArray> weights, NDArray cotangent) {
        BatchNorm2d layer = new BatchNorm2d(3);
        layer.initialize(manager, 0);
        x.setRequiresGradient(true);
        NDArray y;
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            y = weights.isPresent() ? layer.forward(x, weights.get()) : layer.apply(x);
            collector.backward(y.mul(cotangent).sum());
        }
        List<float[]> numbers = new ArrayList<>();
        layer.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            NDArray array = parameter.getArray();
                            numbers.add(
                                    (name.startsWith("running") ? array : array.getGradient())
                                            .toFloatArray());
                        });
        return new Trained(y, x.getGradient(), numbers);
    }
}
