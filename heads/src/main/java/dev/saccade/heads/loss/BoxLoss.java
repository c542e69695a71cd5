package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.parts.PartConfig;

/**
 * How far boxes are from where they should be; a part that YAML names by {@code type}, such as
 * {@code loss_bbox: {type: giou, loss_weight: 10}}.
 *
 * <p>To bring one of your own, implement this with a record and list the record in a {@link
 * dev.saccade.core.parts.PartProvider}.
 */
public interface BoxLoss extends PartConfig {

    /**
     * Returns the weighted sum over the boxes, times the weight of the loss; a scalar with a
     * gradient by {@code pred}, 0 for no boxes.
     *
     * @param pred {@code [P, 4]} float32: corners {@code (x1, y1, x2, y2)} in pixels if the head
     *     decodes boxes for the loss ({@code reg_decoded_bbox}), else what its coder encodes
     * @param target {@code [P, 4]} float32: the same of what should be found
     * @param weight {@code [P, 4]} float32: of each number; a loss that compares whole boxes takes
     *     the mean of the four
     */
    NDArray sum(NDArray pred, NDArray target, NDArray weight);

    /** Returns whether it compares boxes by their corners, and nothing else that tells of them. */
    default boolean comparesBoxes() {
        return false;
    }
}
