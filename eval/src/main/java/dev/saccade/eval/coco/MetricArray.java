package dev.saccade.eval.coco;

import static com.google.common.base.Preconditions.checkElementIndex;

import com.google.common.primitives.ImmutableIntArray;

import java.util.Arrays;

/**
 * A dense array of results. Its axes are some of, in this order: T IoU thresholds, R recall
 * thresholds, K classes, A area ranges, M limits on the number of detections.
 *
 * <p>A cell without a single object to find is undefined and holds -1, as in pycocotools.
 */
public final class MetricArray {

    /** The whole of an axis, for {@link #mean}. */
    static final int ALL = -1;

    private final int[] shape;
    private final double[] values;

    MetricArray(int... shape) {
        this.shape = shape;
        this.values = new double[Arrays.stream(shape).reduce(1, Math::multiplyExact)];
        Arrays.fill(values, -1);
    }

    /** Returns the lengths of the axes. */
    public ImmutableIntArray shape() {
        return ImmutableIntArray.copyOf(shape);
    }

    /** Returns one number, -1 if it is undefined. */
    public double get(int... index) {
        return values[offset(index)];
    }

    /** Returns a copy of all numbers, the last axis running fastest. */
    public double[] toArray() {
        return values.clone();
    }

    /**
     * Returns the mean of the defined numbers of a block.
     *
     * @param block the index along each axis; {@link #ALL} for the whole axis
     * @return -1 if none is defined
     */
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

    /** Writes all numbers of an axis at once; {@code index} says where, its entry there is 0. */
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
