package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.MultiplyAdds;

import org.junit.jupiter.api.Test;

class ConvTranspose2dTest {

    @Test
    void makesEveryCellASquareAndCountsItsMultiplyAdds() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            ConvTranspose2d conv = new ConvTranspose2d(2, 3, 2, WeightInit.constant(0.5f));
            conv.initialize(manager, 0);
            NDArray x = manager.create(new float[] {1, 2, 3, 4}, new Shape(1, 2, 1, 2));
            NDArray y = conv.forward(x);
            assertEquals(new Shape(1, 3, 2, 4), y.getShape());
            assertArrayEquals(new float[] {2, 2, 3, 3, 2, 2, 3, 3}, y.get(":, 0").toFloatArray());
            assertEquals(4 * 3 * 4, MultiplyAdds.count(() -> conv.forward(x)));
        }
    }
}
