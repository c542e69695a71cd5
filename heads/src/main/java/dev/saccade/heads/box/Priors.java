package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;

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

    /** Returns N. */
    public int size() {
        return Math.toIntExact(boxes.getShape().get(0));
    }
}
