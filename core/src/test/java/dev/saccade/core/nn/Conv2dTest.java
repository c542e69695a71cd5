package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.OperatorLibrary;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

class Conv2dTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /** With less than 16 input channels, libtorch's strided kernel corrupts memory in backward. */
    @ParameterizedTest
    @ValueSource(ints = {4, 16})
    void supportsStridedPointwiseConvolutions(int in) {
        Conv2d conv = Conv2d.withoutBias(new Geometry(in, 8, 1).stride(2));
        conv.initialize(manager, 0);
        for (int i = 0; i < 20; i++) {
            NDArray x = MemoryFormat.channelsLast(manager.randomNormal(new Shape(4, in, 47, 64)));
            try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
                NDArray y = conv.apply(x);
                assertEquals(new Shape(4, 8, 24, 32), y.getShape());
                collector.backward(y.sum());
            }
            x.close();
        }
        NDArray gradient = conv.namedParameters().get("weight").getArray().getGradient();
        assertEquals(new Shape(8, in, 1, 1), gradient.getShape());
        assertTrue(Float.isFinite(gradient.sum().getFloat()));
    }

    /** In bfloat16, libtorch's backward pass would read uninitialized memory. */
    @ParameterizedTest
    @CsvSource({"1, 1", "4, 1"})
    void trainsInFloat32OnNarrowMaps(int height, int width) {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        Conv2d conv = Conv2d.withoutBias(new Geometry(16, 16, 3).stride(2).padding(1));
        conv.initialize(manager, 0);
        NDArray x = manager.randomNormal(new Shape(2, 16, height, width));
        Supplier<NDArray> gradient =
                () ->
                        Autograd.gradients(
                                        () -> conv.apply(x).square().sum(), List.of(conv.weight()))
                                .get(0);
        assertArrayEquals(
                gradient.get().toFloatArray(),
                Autocast.call(Precision.BFLOAT16, Device.cpu(), gradient).toFloatArray());
    }

    @Test
    void strideSkipsCells() {
        Conv2d conv = new Conv2d(new Geometry(1, 1, 1).stride(2), WeightInit.constant(3));
        conv.initialize(manager, 0);
        NDArray x = manager.arange(12f).reshape(new Shape(1, 1, 3, 4));
        NDArray y = NoGrad.call(() -> conv.apply(x));
        assertArrayEquals(new float[] {0, 6, 24, 30}, y.toFloatArray());
    }

    /** Stride 2, padding 2, dilation 2, depth-wise. */
    @Test
    void geometryHasNamedSettings() {
        Geometry geometry = new Geometry(2, 2, 3).groups(2).dilation(2).padding(2).stride(2);
        Conv2d conv = new Conv2d(geometry, WeightInit.ONES, WeightInit.constant(100));
        conv.initialize(manager, 0);
        NDArray x = manager.arange(32f).reshape(new Shape(1, 2, 4, 4));
        NDArray y = NoGrad.call(() -> conv.apply(x));
        assertEquals(new Shape(1, 2, 2, 2), y.getShape());
        assertArrayEquals(new float[] {120, 120, 120, 120, 184, 184, 184, 184}, y.toFloatArray());
    }

    @Test
    void countsItsMultiplyAdds() {
        Conv2d conv = Conv2d.withoutBias(new Geometry(3, 8, 3).stride(2).padding(1));
        conv.initialize(manager, 0);
        NDArray x = manager.ones(new Shape(2, 3, 10, 12));
        long count = MultiplyAdds.count(() -> NoGrad.call(() -> conv.apply(x)));
        assertEquals(2L * 8 * 5 * 6 * 27, count);
    }

    /** Narrow and wide groups, full and partial channel vectors, an input smaller than K. */
    @ParameterizedTest
    @CsvSource({"64, 4, 7, 9, 37", "24, 2, 3, 1, 1", "40, 8, 5, 17, 8", "12, 4, 7, 2, 5"})
    void fusedGroupsEqualPortableOnes(int channels, int width, int kernel, int h, int w) {
        Conv2d conv =
                Conv2d.withDefaultInit(
                        new Geometry(channels, channels, kernel)
                                .padding(kernel / 2)
                                .groups(channels / width));
        conv.initialize(manager, 0);
        NDArray x = MemoryFormat.channelsLast(manager.randomNormal(new Shape(2, channels, h, w)));
        NDArray cotangent = manager.randomNormal(x.getShape());
        List<NDArray> by = new ArrayList<>(List.of(x));
        conv.namedParameters().values().forEach(parameter -> by.add(parameter.getArray()));
        by.forEach(each -> each.setRequiresGradient(true));
        Supplier<NDArray> loss = () -> conv.apply(x).mul(cotangent).sum();
        NDList fused = Autograd.gradients(loss, by);
        NDList portable = OperatorLibrary.callPortable(() -> Autograd.gradients(loss, by));
        for (int i = 0; i < by.size(); i++) {
            float[] expected = portable.get(i).toFloatArray();
            assertArrayEquals(expected, fused.get(i).toFloatArray(), 1e-3f, "gradient " + i);
        }
        float[] expected = OperatorLibrary.callPortable(() -> conv.apply(x)).toFloatArray();
        assertArrayEquals(expected, conv.apply(x).toFloatArray(), 1e-4f);
        assertEquals(
                MultiplyAdds.count(() -> OperatorLibrary.callPortable(() -> conv.apply(x))),
                MultiplyAdds.count(() -> conv.apply(x)));
    }
}
