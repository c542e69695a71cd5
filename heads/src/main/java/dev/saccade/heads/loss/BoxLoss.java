package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.components.ComponentConfig;

/** Box regression loss, such as {@code loss_bbox: {type: giou, loss_weight: 10}}. */
public interface BoxLoss extends ComponentConfig {

    /**
     * Returns the weighted sum times {@code loss_weight}: a differentiable scalar, 0 without boxes.
     *
     * @param pred {@code [P, 4]} float32: corners in pixels with {@code reg_decoded_bbox}, else
     *     deltas
     * @param target {@code [P, 4]} float32, in the same form
     * @param weight {@code [P, 4]} float32; losses that compare boxes use the mean of each row
     */
    NDArray sum(NDArray pred, NDArray target, NDArray weight);

    /** Returns whether the loss compares corners and thus requires decoded boxes. */
    default boolean comparesBoxes() {
        return false;
    }
}
