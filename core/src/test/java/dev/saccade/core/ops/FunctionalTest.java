package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.OperatorLibrary;
import dev.saccade.core.ops.script.Script;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.Supplier;

class FunctionalTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    private static final Script TO_BFLOAT16 =
            Script.compile("(x: Tensor) -> Tensor", "return torch.to(x, 15)");

    @AfterEach
    void free() {
        manager.close();
    }

    /** Full and partial vectors, for one thread and several. */
    @ParameterizedTest
    @ValueSource(ints = {1, 15, 16, 1_000, 40_003})
    void geluHasExactGradients(int count) {
        NDArray x = manager.randomNormal(new Shape(count)).mul(4);
        NDArray cotangent = manager.randomNormal(new Shape(count));
        NDArray wide = x.toType(DataType.FLOAT64, true);
        NDArray[] expected = gelu(wide, cotangent.toType(DataType.FLOAT64, true));
        NDArray[] actual = gelu(x, cotangent);
        for (int i = 0; i < 2; i++) {
            assertArrayEquals(floats(expected[i]), floats(actual[i]), 2e-6f);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 15, 16, 40_003})
    void geluRoundsBfloat16(int count) {
        NDArray x = manager.randomNormal(new Shape(count)).mul(4);
        NDArray rounded = TO_BFLOAT16.run(x);
        NDArray[] expected = gelu(Tensors.toFloat32(rounded), x.onesLike());
        NDArray[] actual = gelu(rounded, x.onesLike());
        for (int i = 0; i < 2; i++) {
            float[] values = expected[i].toFloatArray();
            float[] found = Tensors.toFloat32(actual[i]).toFloatArray();
            for (int k = 0; k < count; k++) {
                assertEquals(values[k], found[k], 5e-3f * Math.max(1, Math.abs(values[k])));
            }
        }
    }

    @Test
    void geluOfLargeValuesIsExact() {
        NDArray x = manager.create(new float[] {-100, -12, 0, 12, 100, Float.NaN});
        NDArray[] actual = gelu(x, x.onesLike());
        float[] y = actual[0].toFloatArray();
        float[] slope = actual[1].toFloatArray();
        assertArrayEquals(new float[] {0, 0, 0, 12, 100, Float.NaN}, y, 1e-6f);
        assertArrayEquals(new float[] {0, 0, 0.5f, 1, 1, Float.NaN}, slope, 1e-6f);
        assertEquals(DataType.FLOAT32, actual[0].getDataType());
    }

    @ParameterizedTest
    @CsvSource({"3, 2, 1, FLOAT32", "3, 2, 1, BFLOAT16", "2, 2, 0, FLOAT32", "1, 3, 0, FLOAT32"})
    void maxPoolingEqualsPyTorch(int kernel, int stride, int padding, DataType type) {
        NDArray x = manager.randomNormal(new Shape(2, 37, 13, 8));
        x.set(new NDIndex("1, 5, 6, 3"), Float.NaN);
        NDArray map = type == DataType.BFLOAT16 ? TO_BFLOAT16.run(x) : x;
        Supplier<NDArray> pool =
                () -> NoGrad.call(() -> Functional.maxPool2d(map, kernel, stride, padding));
        NDArray expected = OperatorLibrary.callPortable(pool);
        NDArray found = pool.get();
        assertEquals(expected.getDataType(), found.getDataType());
        assertArrayEquals(floats(expected), floats(found));
    }

    /** Compiles each row once, which detects misspelled operators. */
    @Test
    void operatorsEqualPyTorch() {
        NDArray x = manager.create(new float[] {-1, 0.5f, 2}, new Shape(1, 3));
        NDArray labels = manager.create(new long[] {2, 0, -1}, new Shape(1, 3));
        NDArray mask = Functional.gt(x, 0);
        NDArray at = manager.create(new long[] {2, 0});
        IdentityHashMap<NDArray, float[]> expected = new IdentityHashMap<>();
        expected.put(Functional.add(x, 1), new float[] {0, 1.5f, 3});
        expected.put(Functional.mul(x, 2), new float[] {-2, 1, 4});
        expected.put(Functional.mul(x, labels), new float[] {-2, 0, -2});
        expected.put(Functional.div(x, 2), new float[] {-0.5f, 0.25f, 1});
        expected.put(Functional.clamp(x, 0), new float[] {0, 0.5f, 2});
        expected.put(Functional.clamp(labels, 0, 1), new float[] {1, 0, 0});
        expected.put(Functional.ge(x, 2), new float[] {0, 0, 1});
        expected.put(Functional.lt(labels, 0), new float[] {0, 0, 1});
        expected.put(Functional.eq(labels, 0), new float[] {0, 1, 0});
        expected.put(Functional.where(mask, x, labels), new float[] {2, 0.5f, 2});
        expected.put(Functional.where(mask, labels, -1), new float[] {-1, 0, -1});
        expected.put(Functional.maskedFill(labels, mask, 7), new float[] {2, 7, 7});
        expected.put(Functional.countNonzero(mask), new float[] {2});
        expected.put(Functional.typeAs(mask, x), new float[] {0, 1, 1});
        expected.put(Functional.contiguous(x.transpose()), new float[] {-1, 0.5f, 2});
        expected.put(Functional.clone(x), new float[] {-1, 0.5f, 2});
        expected.put(Functional.flatten(x, 0), new float[] {-1, 0.5f, 2});
        expected.put(Functional.slice(x, 1, 0, -1), new float[] {-1, 0.5f});
        expected.put(Functional.indexSelect(x, 1, at), new float[] {2, -1});
        expected.put(Functional.gather(x, 1, at.reshape(1, 2)), new float[] {2, -1});
        expected.put(Functional.pad(x, List.of(1, 0)), new float[] {0, -1, 0.5f, 2});
        expected.put(Functional.roll(x, List.of(1), List.of(1)), new float[] {2, -1, 0.5f});
        expected.put(Functional.flip(x, List.of(1)), new float[] {2, 0.5f, -1});
        expected.put(Functional.mean(x, List.of(1), true), new float[] {0.5f});
        expected.put(Functional.relu(x), new float[] {0, 0.5f, 2});
        expected.put(Functional.sigmoid(x), new float[] {0.268941f, 0.622459f, 0.880797f});
        expected.put(Functional.softmax(x, 1), new float[] {0.039114f, 0.175295f, 0.785591f});
        NDArray map = x.reshape(1, 1, 1, 3);
        expected.put(Functional.globalAvgPool2d(map), new float[] {0.5f});
        expected.put(Functional.adaptiveAvgPool2d(map, 1), new float[] {0.5f});
        expected.put(Functional.pixelShuffle(map, 1), new float[] {-1, 0.5f, 2});
        expected.put(
                Functional.binaryCrossEntropyWithLogits(x, x.zerosLike(), x.onesLike()),
                new float[] {3.414267f});
        expected.forEach((actual, values) -> assertArrayEquals(values, floats(actual), 1e-5f));
        assertEquals(DataType.INT64, Functional.clamp(labels, 0).getDataType());
        assertEquals(DataType.INT64, Functional.where(mask, labels, -1).getDataType());
    }

    /** Returns GELU and its gradient. */
    private static NDArray[] gelu(NDArray given, NDArray cotangent) {
        NDArray x = given.duplicate();
        x.setRequiresGradient(true);
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray y = Functional.gelu(x);
            collector.backward(y.mul(cotangent).sum());
            return new NDArray[] {y.stopGradient(), x.getGradient()};
        }
    }

    private static float[] floats(NDArray array) {
        return array.toType(DataType.FLOAT32, true).toFloatArray();
    }
}
