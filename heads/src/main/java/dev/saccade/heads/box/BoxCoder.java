package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.structures.Boxes;

/**
 * Writes the way from one box to another as four numbers, which a head predicts; a part that YAML
 * names by {@code type}, such as {@code bbox_coder: {type: delta_xywh, stds: [0.1, 0.1, 0.2,
 * 0.2]}}.
 *
 * <p>To bring one of your own, implement this with a record and list the record in a {@link
 * dev.saccade.core.parts.PartProvider}.
 */
public interface BoxCoder extends PartConfig {

    /**
     * Returns the numbers that lead from {@code boxes} to {@code targets}, {@code [N * 4]}.
     *
     * @param boxes [N] boxes, such as anchors
     * @param targets [N] boxes to get to
     */
    float[] encode(Boxes boxes, Boxes targets);

    /**
     * Returns the boxes that {@code deltas} lead to from {@code boxes}.
     *
     * @param boxes [N] boxes
     * @param deltas {@code [N * K * 4]} numbers: K ways from each box, such as one a class
     * @return [N * K] boxes, not clipped to an image
     */
    Boxes decode(Boxes boxes, float[] deltas);

    /**
     * Returns the boxes that numbers lead to, with gradients by the numbers.
     *
     * @param boxes {@code [N, 4]} corners
     * @param deltas {@code [N, 4]} numbers, one way a box
     * @return {@code [N, 4]} corners, not clipped to an image
     */
    NDArray decode(NDArray boxes, NDArray deltas);
}
