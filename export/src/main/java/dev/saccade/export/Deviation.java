package dev.saccade.export;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;

/** How far what a program computes is from what the model does. */
final class Deviation {

    private Deviation() {}

    /** Returns whether any element is NaN. */
    static boolean hasNaN(NDArray array) {
        for (float value : array.toType(DataType.FLOAT32, false).toFloatArray()) {
            if (Float.isNaN(value)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the largest difference of two elements over the largest magnitude of what is
     * expected; infinite, if shapes differ, or one has a number where the other has none.
     */
    static double relative(NDArray expected, NDArray got) {
        if (!expected.getShape().equals(got.getShape())) {
            return Double.POSITIVE_INFINITY;
        }
        float[] ours = expected.toType(DataType.FLOAT32, false).toFloatArray();
        float[] theirs = got.toType(DataType.FLOAT32, false).toFloatArray();
        double largest = 0;
        double apart = 0;
        for (int i = 0; i < ours.length; i++) {
            if (Float.compare(ours[i], theirs[i]) == 0) {
                // Both may be infinite.
                continue;
            }
            double difference = Math.abs((double) ours[i] - theirs[i]);
            if (!Double.isFinite(difference)) {
                return Double.POSITIVE_INFINITY;
            }
            apart = Math.max(apart, difference);
        }
        for (float value : ours) {
            largest = Float.isFinite(value) ? Math.max(largest, Math.abs(value)) : largest;
        }
        return apart == 0 ? 0 : apart / largest;
    }
}
