package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;

import java.util.Arrays;
import java.util.function.ObjDoubleConsumer;
import java.util.function.ToDoubleFunction;

/** Values of an array by index; 0 outside. */
final class Grid {

    private final float[] values;
    private final int[] shape;

    Grid(NDArray array) {
        values = array.toFloatArray();
        shape = Arrays.stream(array.getShape().getShape()).mapToInt(Math::toIntExact).toArray();
    }

    int size(int axis) {
        return shape[axis];
    }

    double at(int... index) {
        int flat = 0;
        for (int axis = 0; axis < shape.length; axis++) {
            if (index[axis] < 0 || index[axis] >= shape[axis]) {
                return 0;
            }
            flat = flat * shape[axis] + index[axis];
        }
        return values[flat];
    }

    /** Visits every index and its value. */
    void forEach(ObjDoubleConsumer<int[]> visitor) {
        for (int flat = 0; flat < values.length; flat++) {
            int[] index = new int[shape.length];
            int rest = flat;
            for (int axis = shape.length - 1; axis >= 0; axis--) {
                index[axis] = rest % shape[axis];
                rest /= shape[axis];
            }
            visitor.accept(index, values[flat]);
        }
    }

    /** Asserts that every value equals a formula of its index, up to rounding. */
    void assertIs(ToDoubleFunction<int[]> formula) {
        forEach(
                (index, value) -> {
                    double expected = formula.applyAsDouble(index);
                    double rounding = 1e-5 * Math.max(1, Math.abs(expected));
                    assertEquals(expected, value, rounding, () -> "at " + Arrays.toString(index));
                });
    }
}
