package dev.saccade.core.ops.script;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;

import org.junit.jupiter.api.Test;

import java.util.function.Supplier;

class MultiplyAddsTest {

    @Test
    void sumsTheCostOfTheOperatorsOfThisThread() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray x = manager.ones(new Shape(2, 3));
            NDArray weight = manager.ones(new Shape(5, 3));
            long count =
                    MultiplyAdds.count(
                            () -> {
                                Functional.linear(x, weight, null);
                                MultiplyAdds.add(7);
                            });
            assertEquals(2 * 3 * 5 + 7, count);
        }
    }

    @Test
    void nestedCountsAddToBoth() {
        long[] inner = new long[1];
        long outer =
                MultiplyAdds.count(
                        () -> {
                            MultiplyAdds.add(1);
                            inner[0] = MultiplyAdds.count(() -> MultiplyAdds.add(10));
                            MultiplyAdds.add(100);
                        });
        assertEquals(10, inner[0]);
        assertEquals(111, outer);
    }

    @Test
    void returnsZerosOnlyWhileCounting() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray map = manager.ones(new Shape(1, 2, 7, 5));
            NDArray weight = manager.ones(new Shape(4, 2, 3, 3));
            Supplier<NDArray> convolution = () -> Functional.conv2d(map, weight, null, 2, 1, 2, 1);
            NDArray[] counted = new NDArray[1];
            MultiplyAdds.count(() -> counted[0] = convolution.get());
            NDArray computed = convolution.get();
            assertEquals(computed.getShape(), counted[0].getShape());
            assertArrayEquals(new float[4 * 3 * 2], counted[0].toFloatArray());
            assertEquals(8, computed.getFloat(0, 0, 0, 0));
        }
    }
}
