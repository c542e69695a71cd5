package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.ops.MemoryFormat;
import dev.saccade.core.ops.MultiplyAdds;
import dev.saccade.core.ops.NoGrad;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Conv2dTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /** Below 16 input channels libtorch's own strided kernel corrupts memory going backward. */
    @ParameterizedTest
    @ValueSource(ints = {4, 16})
    void stridesOneByOneKernelsOfAnyWidth(int in) {
        Conv2d conv = Conv2d.withoutBias(in, 8, 1, 2, 0);
        conv.initialize(manager, 0);
        for (int i = 0; i < 20; i++) {
            NDArray x = MemoryFormat.channelsLast(manager.randomNormal(new Shape(4, in, 47, 64)));
            try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
                NDArray y = conv.forward(x);
                assertEquals(new Shape(4, 8, 24, 32), y.getShape());
                collector.backward(y.sum());
            }
            x.close();
        }
        NDArray gradient = conv.namedParameters().get("weight").getArray().getGradient();
        assertEquals(new Shape(8, in, 1, 1), gradient.getShape());
        assertTrue(Float.isFinite(gradient.sum().getFloat()));
    }

    @Test
    void aStridedKernelSeesEverySecondCell() {
        Conv2d conv = new Conv2d(1, 1, 1, 2, 0, WeightInit.constant(3));
        conv.initialize(manager, 0);
        NDArray x = manager.arange(12f).reshape(new Shape(1, 1, 3, 4));
        NDArray y = NoGrad.call(() -> conv.forward(x));
        assertArrayEquals(new float[] {0, 6, 24, 30}, y.toFloatArray());
    }

    @Test
    void countsItsMultiplyAdds() {
        Conv2d conv = Conv2d.withoutBias(3, 8, 3, 2, 1);
        conv.initialize(manager, 0);
        NDArray x = manager.ones(new Shape(2, 3, 10, 12));
        long count = MultiplyAdds.count(() -> NoGrad.call(() -> conv.forward(x)));
        assertEquals(2L * 8 * 5 * 6 * 27, count);
    }
}
