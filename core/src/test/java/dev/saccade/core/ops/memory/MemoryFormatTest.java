package dev.saccade.core.ops.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.Script;

import org.junit.jupiter.api.Test;

class MemoryFormatTest {

    private static final Script CONTIGUOUS =
            Script.compile(
                    "(x: Tensor) -> Tensor", "return torch.tensor(int(torch.is_contiguous(x)))");

    private static final Shape SHAPE = new Shape(2, 3, 4, 5);

    @Test
    void keepsValuesAndShape() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray x = manager.arange(120f).reshape(SHAPE);
            NDArray y = MemoryFormat.channelsLast(x);
            assertFalse(contiguous(y));
            assertEquals(SHAPE, y.getShape());
            assertArrayEquals(x.toFloatArray(), y.toFloatArray());
        }
    }

    @Test
    void alwaysCopies() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray x = manager.ones(new Shape(4, 3, 1, 1));
            NDArray y = MemoryFormat.channelsLast(x);
            x.addi(1);
            assertArrayEquals(manager.ones(new Shape(12)).toFloatArray(), y.toFloatArray());
        }
    }

    @Test
    void copiesIntoTheMemoryOfTheTarget() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray source = manager.arange(120f).reshape(SHAPE);
            NDArray target = MemoryFormat.channelsLast(manager.zeros(SHAPE));
            target.setRequiresGradient(true);
            MemoryFormat.copy(source, target);
            assertFalse(contiguous(target));
            assertArrayEquals(source.toFloatArray(), target.toFloatArray());
        }
    }

    @Test
    void zerosLikeKeepsTheFormat() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray weight = MemoryFormat.channelsLast(manager.ones(SHAPE));
            assertFalse(contiguous(MemoryFormat.zerosLike(weight)));
        }
    }

    private static boolean contiguous(NDArray array) {
        return CONTIGUOUS.run(array).toLongArray()[0] == 1;
    }
}
