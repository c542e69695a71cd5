package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

/**
 * The boxes from which objects are looked for, be they anchors or regions.
 *
 * @param boxes {@code [N, 4]} float32 corners in the coordinates of the network input, level after
 *     level
 * @param perLevel how many of them belong to each level of the pyramid, the finest first; regions
 *     are of one level
 */
@SuppressWarnings("ArrayRecordComponent") // a handful of numbers
public record Priors(NDArray boxes, int... perLevel) {

    /** Makes boxes of one level. */
    public Priors(NDArray boxes) {
        this(boxes, Math.toIntExact(boxes.getShape().get(0)));
    }

    /** Splits an array along an axis into parts of given lengths. */
    public static NDList split(NDArray array, int axis, int... lengths) {
        long[] ends = new long[lengths.length - 1];
        long end = 0;
        for (int i = 0; i < ends.length; i++) {
            end += lengths[i];
            ends[i] = end;
        }
        return ends.length == 0 ? new NDList(array) : array.split(ends, axis);
    }

    /** Returns N. */
    public int size() {
        return Math.toIntExact(boxes.getShape().get(0));
    }
}
