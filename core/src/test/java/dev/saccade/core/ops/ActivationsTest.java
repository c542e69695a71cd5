package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ActivationsTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /** Whole vectors and rests, one thread's share and more. */
    @ParameterizedTest
    @ValueSource(ints = {1, 15, 16, 1_000, 40_003})
    void takesTheGeluWithItsGradient(int count) {
        NDArray x = manager.randomNormal(new Shape(count)).mul(4);
        NDArray cotangent = manager.randomNormal(new Shape(count));
        NDArray wide = x.toType(DataType.FLOAT64, true);
        NDArray[] expected = gelu(wide, cotangent.toType(DataType.FLOAT64, true));
        NDArray[] actual = gelu(x, cotangent);
        for (int i = 0; i < 2; i++) {
            assertArrayEquals(floats(expected[i]), floats(actual[i]), 2e-6f);
        }
    }

    @Test
    void takesTheGeluOfWhatIsFarOut() {
        NDArray x = manager.create(new float[] {-100, -12, 0, 12, 100, Float.NaN});
        NDArray[] actual = gelu(x, x.onesLike());
        float[] y = actual[0].toFloatArray();
        float[] slope = actual[1].toFloatArray();
        assertArrayEquals(new float[] {0, 0, 0, 12, 100, Float.NaN}, y, 1e-6f);
        assertArrayEquals(new float[] {0, 0, 0.5f, 1, 1, Float.NaN}, slope, 1e-6f);
        assertEquals(DataType.FLOAT32, actual[0].getDataType());
    }

    /** Returns GELU and the gradient of its input. */
    private static NDArray[] gelu(NDArray given, NDArray cotangent) {
        NDArray x = given.duplicate();
        x.setRequiresGradient(true);
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray y = Activations.gelu(x);
            collector.backward(y.mul(cotangent).sum());
            return new NDArray[] {y.stopGradient(), x.getGradient()};
        }
    }

    private static float[] floats(NDArray array) {
        return array.toType(DataType.FLOAT32, true).toFloatArray();
    }
}
