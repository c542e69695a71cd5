package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.jni.JniUtils;

import dev.saccade.core.Workers;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.OperatorLibrary;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

class FusedConv2dTest {

    private NDManager manager;

    @BeforeEach
    void openManager() {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        manager = NDManager.newBaseManager("PyTorch");
    }

    @AfterEach
    void closeManager() {
        if (manager != null) {
            manager.close();
        }
    }

    /** Kernel sizes, strides, channels that fill no vector, groups, and no padding. */
    static List<Geometry> geometries() {
        return List.of(
                new Geometry(32, 1, 3).padding(1),
                new Geometry(32, 64, 3).padding(1),
                new Geometry(33, 37, 3).padding(1),
                new Geometry(16, 300, 3),
                new Geometry(17, 16, 3).padding(2),
                new Geometry(1037, 18, 3).padding(1),
                new Geometry(32, 32, 3).padding(2).dilation(2),
                new Geometry(32, 48, 3).padding(1).stride(2),
                new Geometry(3, 20, 7).padding(3).stride(2),
                new Geometry(40, 24, 1),
                new Geometry(10, 24, 1).stride(2),
                new Geometry(4, 40, 3).padding(1),
                Geometry.depthwise(24, 3),
                new Geometry(32, 32, 3).padding(1).groups(8),
                new Geometry(64, 32, 3).padding(1).groups(2));
    }

    @ParameterizedTest
    @MethodSource("geometries")
    void equalsSeparateLayers(Geometry geometry) {
        for (ConvModule module : modules(geometry)) {
            for (List<Long> size :
                    List.of(List.of(2L, 13L, 9L), List.of(1L, 7L, 24L), List.of(1L, 21L, 34L))) {
                NDArray x = random(size.get(0), geometry.in(), size.get(1), size.get(2));
                NDArray residual = random(geometry.outputShape(x.getShape()).getShape());
                assertFusedIsClose(() -> module.apply(x), 1e-5);
                assertFusedIsClose(() -> module.apply(MemoryFormat.channelsLast(x)), 1e-5);
                assertFusedIsClose(() -> module.forwardAdd(x, residual), 1e-5);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("geometries")
    void resultsDependOnNeitherBatchNorThreads(Geometry geometry) {
        int before = JniUtils.getNumThreads();
        try {
            for (ConvModule module : modules(geometry)) {
                for (int side : List.of(5, 9, 13)) {
                    NDArray x = random(4, geometry.in(), side, side + 2);
                    JniUtils.setNumThreads(1);
                    NDList single = new NDList();
                    for (int i = 0; i < 4; i++) {
                        NDArray image = x.get(new NDIndex("{}:{}", i, i + 1));
                        single.add(NoGrad.call(() -> module.apply(image)));
                    }
                    JniUtils.setNumThreads(3);
                    NDArray batch = NoGrad.call(() -> module.apply(x));
                    assertArrayEquals(
                            Tensors.concat(single, 0).toFloatArray(), batch.toFloatArray());
                }
            }
        } finally {
            JniUtils.setNumThreads(before);
        }
    }

    @Test
    void threadsShareThePackedWeights() {
        ConvModule alone = modules(new Geometry(256, 256, 3).padding(1)).get(0);
        ConvModule shared = modules(new Geometry(256, 256, 3).padding(1)).get(0);
        NDArray x = random(1, 256, 8, 8);
        long one = bytesAdded(() -> apply(alone, x));
        assertEquals(36 * 256 * 256 * Float.BYTES, one);
        long many =
                bytesAdded(
                        () -> {
                            try (Workers workers = new Workers("predict", 8)) {
                                workers.run(8, () -> i -> apply(shared, x));
                            }
                        });
        assertEquals(one, many);
    }

    private static void apply(ConvModule module, NDArray x) {
        NoGrad.run(() -> Scope.run(() -> module.apply(x)));
    }

    private static long bytesAdded(Runnable body) {
        long before = TensorMemory.of(Device.cpu()).orElseThrow().bytes();
        body.run();
        return TensorMemory.of(Device.cpu()).orElseThrow().bytes() - before;
    }

    @Test
    void addsToMapsOfOnePixel() {
        for (int images : List.of(1, 2)) {
            for (ConvModule module : modules(new Geometry(32, 48, 3).padding(1))) {
                NDArray x = random(images, 32, 1, 1);
                NDArray residual = random(images, 48, 1, 1);
                assertFusedIsClose(() -> module.forwardAdd(x, residual), 1e-5);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("geometries")
    void roundsMapsToBfloat16(Geometry geometry) {
        for (ConvModule module : modules(geometry)) {
            NDArray x = random(1, geometry.in(), 12, 10);
            NDArray residual = random(geometry.outputShape(x.getShape()).getShape());
            NDArray expected =
                    OperatorLibrary.callPortable(
                            () -> NoGrad.call(() -> module.forwardAdd(x, residual)));
            NDArray found =
                    NoGrad.call(
                            () ->
                                    Autocast.call(
                                            Precision.BFLOAT16,
                                            Device.cpu(),
                                            () -> module.forwardAdd(x, residual)));
            assertClose(expected, Tensors.toFloat32(found), 1e-2);
        }
    }

    @Test
    void countsTheSameMultiplyAdds() {
        for (Geometry geometry : geometries()) {
            NDArray x = random(1, geometry.in(), 12, 10);
            ConvModule module = modules(geometry).get(0);
            long fused = MultiplyAdds.count(() -> module.apply(x));
            module.train(true);
            assertEquals(MultiplyAdds.count(() -> module.apply(x)), fused);
        }
    }

    @Test
    void winogradPropagatesNan() {
        ConvModule module = modules(new Geometry(16, 16, 3).padding(1)).get(1);
        NDArray x = random(1, 16, 16, 12);
        x.set(new NDIndex("0, 0, 1, 1"), Float.NaN);
        assertTrue(Float.isNaN(NoGrad.call(() -> module.apply(x)).getFloat(0, 0, 1, 1)));
    }

    /** The 8-bit and bfloat16 products of quantized layers; others compute as before. */
    @ParameterizedTest
    @MethodSource("geometries")
    void quantizationChangesResultsByAFewPercentAtMost(Geometry geometry) {
        for (ConvModule module : modules(geometry)) {
            NDArray x = random(2, geometry.in(), 13, 10);
            NDArray residual = random(geometry.outputShape(x.getShape()).getShape());
            NDArray expected = NoGrad.call(() -> module.forwardAdd(x, residual));
            List<String> layers = Quantization.layers(module);
            Quantization.apply(module, layers);
            NDArray found = NoGrad.call(() -> module.forwardAdd(x, residual));
            assertClose(expected, found, 0.03);
            boolean changes = !layers.isEmpty() && Quantization.isFast();
            assertEquals(changes, distance(expected, found) > 1e-5);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Precision.class,
            names = {"FLOAT32", "BFLOAT16"})
    void quantizedLayersPropagateNan(Precision precision) {
        assumeTrue(Quantization.isFast(), "the processor lacks 8-bit products");
        ConvModule module = modules(new Geometry(33, 20, 1)).get(1);
        Quantization.apply(module, List.of("conv"));
        for (int channel : new int[] {0, 5, 32}) {
            for (float value :
                    new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
                NDArray x = random(1, 33, 4, 4);
                x.set(new NDIndex("0, " + channel + ", 1, 1"), value);
                NDArray y =
                        NoGrad.call(
                                () ->
                                        Autocast.call(
                                                precision, Device.cpu(), () -> module.apply(x)));
                NDArray found = Tensors.toFloat32(y);
                assertTrue(Float.isNaN(found.getFloat(0, 0, 1, 1)));
                assertFalse(Float.isNaN(found.getFloat(0, 0, 2, 1)));
            }
        }
    }

    @Test
    void quantizedResultDoesNotDependOnTheNumberOfThreads() {
        for (int kernel : new int[] {1, 3}) {
            ConvModule module = modules(new Geometry(64, 96, kernel).padding(kernel / 2)).get(1);
            Quantization.apply(module, List.of("conv"));
            assertThreadsDoNotMatter(module);
        }
    }

    @Test
    void trainingUndoesFusion() {
        ConvModule module = modules(new Geometry(16, 16, 3).padding(1)).get(2);
        NDArray x = random(2, 16, 6, 6);
        NDArray before = NoGrad.call(() -> module.apply(x));
        module.train(true);
        module.namedParameters().get("conv.weight").getArray().muli(2);
        module.train(false);
        NDArray after = NoGrad.call(() -> module.apply(x));
        assertTrue(distance(before, after) > 0.1);
        module.fuse();
        assertFusedIsClose(() -> module.apply(x), 1e-5);
    }

    @Test
    void resultDoesNotDependOnTheNumberOfThreads() {
        ConvModule module = modules(new Geometry(64, 96, 3).padding(1)).get(1);
        assertThreadsDoNotMatter(module);
    }

    private void assertThreadsDoNotMatter(ConvModule module) {
        NDArray x = random(1, 64, 40, 30);
        int threads = JniUtils.getNumThreads();
        float[] expected = NoGrad.call(() -> module.apply(x)).toFloatArray();
        try {
            JniUtils.setNumThreads(1);
            assertArrayEquals(expected, NoGrad.call(() -> module.apply(x)).toFloatArray());
        } finally {
            JniUtils.setNumThreads(threads);
        }
    }

    /** Returns fused modules without activation, with ReLU, and with normalization and ReLU. */
    private List<ConvModule> modules(Geometry geometry) {
        WeightInit random = WeightInit.uniform(0.5);
        List<ConvModule> modules =
                List.of(
                        ConvModule.linear(geometry, random),
                        ConvModule.relu(geometry, random),
                        ConvModule.normRelu(geometry, BatchNormType.BN));
        for (ConvModule module : modules) {
            module.initialize(
                    manager,
                    1,
                    Map.of(
                            "conv.bias", random,
                            "bn.weight", random,
                            "bn.bias", random,
                            "bn.running_mean", random));
            module.train(false);
            module.fuse();
        }
        return modules;
    }

    private NDArray random(long... sizes) {
        return manager.randomNormal(0, 1, new Shape(sizes), DataType.FLOAT32);
    }

    private static void assertFusedIsClose(Supplier<NDArray> forward, double tolerance) {
        NDArray expected = OperatorLibrary.callPortable(() -> NoGrad.call(forward));
        assertClose(expected, NoGrad.call(forward), tolerance);
    }

    private static void assertClose(NDArray expected, NDArray found, double tolerance) {
        assertEquals(expected.getShape(), found.getShape());
        double error = distance(expected, found);
        assertTrue(error < tolerance, "relative error " + error);
    }

    /** Returns the largest difference, relative to the largest value. */
    private static double distance(NDArray expected, NDArray found) {
        return (double) found.sub(expected).abs().max().getFloat()
                / expected.abs().max().getFloat();
    }
}
