package dev.saccade.heads.box;

import dev.saccade.core.structures.Boxes;

/**
 * The boxes from which objects are looked for, be they anchors or regions.
 *
 * @param boxes [N] boxes in the coordinates of the network input, level after level
 * @param perLevel how many of them belong to each level of the pyramid, the finest first; regions
 *     are of one level
 */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
public record Priors(Boxes boxes, int... perLevel) {

    /** Makes boxes of one level. */
    public Priors(Boxes boxes) {
        this(boxes, boxes.size());
    }
}
