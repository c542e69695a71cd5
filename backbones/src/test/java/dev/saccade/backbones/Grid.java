package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import java.util.function.ToDoubleFunction;

/** The numbers of an array by their indices; outside of it, all are 0. */
final class Grid {

    private final float[] values;
    private final long[] shape;

    Grid(NDArray array) {
        values = array.toFloatArray();
        shape = array.getShape().getShape();
    }

    int size(int axis) {
        return (int) shape[axis];
    }

    double at(int... index) {
        int flat = 0;
        for (int axis = 0; axis < shape.length; axis++) {
            if (index[axis] < 0 || index[axis] >= shape[axis]) {
                return 0;
            }
            flat = flat * (int) shape[axis] + index[axis];
        }
        return values[flat];
    }

    /** Asserts that every number is, but for rounding, what a formula gives for its index. */
    void assertIs(ToDoubleFunction<int[]> formula) {
        Shape all = new Shape(shape);
        for (int flat = 0; flat < all.size(); flat++) {
            int[] index = new int[shape.length];
            int rest = flat;
            for (int axis = shape.length - 1; axis >= 0; axis--) {
                index[axis] = rest % (int) shape[axis];
                rest /= (int) shape[axis];
            }
            double expected = formula.applyAsDouble(index);
            assertEquals(
                    expected,
                    values[flat],
                    1e-5 * Math.max(1, Math.abs(expected)),
                    () -> "at " + java.util.Arrays.toString(index));
        }
    }
}
