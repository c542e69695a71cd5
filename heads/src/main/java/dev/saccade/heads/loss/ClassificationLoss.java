package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.parts.PartConfig;

/**
 * How wrong the scores of classes are; a part that YAML names by {@code type}, such as {@code
 * loss_cls: {type: focal, gamma: 2}}.
 *
 * <p>To bring one of your own, implement this with a record and list the record in a {@link
 * dev.saccade.core.parts.PartProvider}.
 */
public interface ClassificationLoss extends PartConfig {

    /**
     * Returns the weighted sum over the boxes, times the weight of the loss; a scalar with a
     * gradient by {@code logits}, 0 for no boxes.
     *
     * @param logits {@code [N, K]} float32, K the {@link #outChannels} of C classes
     * @param labels {@code [N]} int32 in [0, C]; C is background
     * @param weights {@code [N]} float32 weight of each box; 0 for one that is not trained
     */
    NDArray sum(NDArray logits, NDArray labels, NDArray weights);

    /**
     * Returns whether each class is told by a sigmoid of its own, background by none; if not, all
     * are told by one softmax, background last.
     */
    default boolean useSigmoid() {
        return true;
    }

    /** Returns how many logits a box has: one for each class, and with softmax for background. */
    default int outChannels(int numClasses) {
        return useSigmoid() ? numClasses : numClasses + 1;
    }
}
