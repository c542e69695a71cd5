package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.parts.PartConfig;

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
     * Returns the numbers that lead from {@code boxes} to {@code targets}.
     *
     * @param boxes {@code [N, 4]} corners, such as those of anchors
     * @param targets {@code [N, 4]} corners to get to
     * @return {@code [N, 4]}
     */
    NDArray encode(NDArray boxes, NDArray targets);

    /**
     * Returns the boxes that numbers lead to, with gradients by the numbers.
     *
     * @param boxes {@code [..., 4]} corners; an axis of 1 stands for all of that axis of the
     *     numbers, as where each class has its own way from a box
     * @param deltas {@code [..., 4]} numbers
     * @return {@code [..., 4]} corners, not clipped to an image
     */
    NDArray decode(NDArray boxes, NDArray deltas);
}
