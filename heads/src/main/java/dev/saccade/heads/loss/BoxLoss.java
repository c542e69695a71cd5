package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.parts.PartConfig;

/**
 * Box regression loss; selected by {@code type} in YAML, such as {@code loss_bbox: {type: giou,
 * loss_weight: 10}}.
 *
 * <p>A custom loss is a record that implements this interface and is listed in a {@link
 * dev.saccade.core.parts.PartProvider}.
 */
public interface BoxLoss extends PartConfig {

    /**
     * Returns the weighted sum over the boxes times {@code loss_weight}: a scalar that is
     * differentiable by {@code pred}, 0 without boxes.
     *
     * @param pred {@code [P, 4]} float32: corners {@code (x1, y1, x2, y2)} in pixels with {@code
     *     reg_decoded_bbox}, else bbox deltas
     * @param target {@code [P, 4]} float32, in the same form
     * @param weight {@code [P, 4]} float32; losses of whole boxes use the mean of the four
     */
    NDArray sum(NDArray pred, NDArray target, NDArray weight);

    /** Returns whether the loss compares corners, so that it requires decoded boxes. */
    default boolean comparesBoxes() {
        return false;
    }
}
