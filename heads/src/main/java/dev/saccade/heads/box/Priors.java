package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

/**
 * Boxes to assign objects to: anchors or proposals.
 *
 * @param boxes {@code [N, 4]} float32 corners in input coordinates, level by level
 * @param perLevel number of boxes per level, finest first; proposals have one level
 */
@SuppressWarnings("ArrayRecordComponent") // a short array
public record Priors(NDArray boxes, int... perLevel) {

    public Priors(NDArray boxes) {
        this(boxes, Math.toIntExact(boxes.getShape().get(0)));
    }

    public static NDList split(NDArray array, int axis, int... lengths) {
        long[] ends = new long[lengths.length - 1];
        long end = 0;
        for (int i = 0; i < ends.length; i++) {
            end += lengths[i];
            ends[i] = end;
        }
        return ends.length == 0 ? new NDList(array) : array.split(ends, axis);
    }

    public int size() {
        return Math.toIntExact(boxes.getShape().get(0));
    }
}
