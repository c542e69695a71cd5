package dev.saccade.core.ops.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import org.junit.jupiter.api.Test;

class ScopeTest {

    @Test
    void freesEverythingButTheResult() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray x = manager.ones(new Shape(2));
            NDArray y = Scope.array(() -> x.add(1).mul(3).sub(2));
            assertArrayEquals(new float[] {4, 4}, y.toFloatArray());
            assertEquals(2, manager.getManagedArrays().size());
        }
    }

    @Test
    void anOuterScopeFreesTheResultOfAnInnerOne() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray x = manager.ones(new Shape(2));
            Scope.run(() -> Scope.array(() -> x.add(1).mul(3)).sub(2));
            assertEquals(1, manager.getManagedArrays().size());
        }
    }
}
