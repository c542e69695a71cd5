package dev.saccade.core.ops.vision;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.OperatorLibrary;
import dev.saccade.core.ops.script.Script;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.function.Supplier;

class InterpolationTest {

    @ParameterizedTest
    @CsvSource({
        "5, 7, 9, 13, 17, false, FLOAT32",
        "16, 7, 9, 14, 18, true, FLOAT32",
        "37, 8, 6, 3, 5, false, FLOAT32",
        "5, 31, 40, 7, 11, false, FLOAT32",
        "33, 1, 1, 4, 4, true, FLOAT32",
        "32, 7, 9, 14, 18, false, BFLOAT16",
        "21, 7, 9, 5, 18, true, BFLOAT16"
    })
    void fusedEqualsPortable(
            int channels, int h, int w, int height, int width, boolean align, Precision precision) {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            manager.getEngine().setRandomSeed(1);
            NDArray map = manager.randomNormal(new Shape(2, channels, h, w));
            NDArray x = precision == Precision.FLOAT32 ? map : Script.call("torch.to", map, 15);
            NDArray like = manager.zeros(new Shape(2, 1, height, width));
            Supplier<NDArray> resize =
                    () -> NoGrad.call(() -> Interpolation.resizeTo(like, x, align));
            NDArray expected = OperatorLibrary.callPortable(resize);
            NDArray actual = resize.get();
            assertEquals(expected.getShape(), actual.getShape());
            float tolerance = precision == Precision.FLOAT32 ? 1e-5f : 0.02f;
            assertArrayEquals(
                    Tensors.toFloat32(expected).toFloatArray(),
                    Tensors.toFloat32(actual).toFloatArray(),
                    tolerance);
        }
    }
}
