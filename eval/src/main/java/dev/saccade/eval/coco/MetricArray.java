package dev.saccade.eval.coco;

import static com.google.common.base.Preconditions.checkElementIndex;

import com.google.common.primitives.ImmutableIntArray;

import java.util.Arrays;

/**
 * Array of metrics with some of these axes: T IoU thresholds, R recall thresholds, K classes, A
 * area ranges, M limits on detections. Values without objects are -1, as in pycocotools.
 */
public final class MetricArray {

    /** Selects a whole axis in {@link #mean}. */
    static final int ALL = -1;

    private final int[] shape;
    private final double[] values;

    MetricArray(int... shape) {
        this.shape = shape;
        this.values = new double[Arrays.stream(shape).reduce(1, Math::multiplyExact)];
        Arrays.fill(values, -1);
    }

    public ImmutableIntArray shape() {
        return ImmutableIntArray.copyOf(shape);
    }

    /** Returns one value; -1 if undefined. */
    public double get(int... index) {
        return values[offset(index)];
    }

    /** Returns a copy of all values in row-major order. */
    public double[] toArray() {
        return values.clone();
    }

    /** Returns the mean of the defined values; -1 if none. {@link #ALL} averages over an axis. */
    double mean(int... block) {
        double sum = 0;
        int defined = 0;
        int[] index = Arrays.stream(block).map(i -> Math.max(i, 0)).toArray();
        int axis = 0;
        while (axis >= 0) {
            double value = get(index);
            sum += value > -1 ? value : 0;
            defined += value > -1 ? 1 : 0;
            for (axis = shape.length - 1; axis >= 0; axis--) {
                if (block[axis] == ALL && ++index[axis] < shape[axis]) {
                    break;
                }
                index[axis] = Math.max(block[axis], 0);
            }
        }
        return defined == 0 ? -1 : sum / defined;
    }

    void set(double value, int... index) {
        values[offset(index)] = value;
    }

    /** Writes the values along an axis; {@code index} is 0 on that axis. */
    void setAlong(int axis, double[] line, int... index) {
        int stride = Arrays.stream(shape, axis + 1, shape.length).reduce(1, (a, b) -> a * b);
        int first = offset(index);
        for (int i = 0; i < shape[axis]; i++) {
            values[first + i * stride] = line[i];
        }
    }

    private int offset(int... index) {
        int offset = 0;
        for (int axis = 0; axis < shape.length; axis++) {
            offset = offset * shape[axis] + checkElementIndex(index[axis], shape[axis]);
        }
        return offset;
    }
}
