package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.components.ComponentConfig;

/** Classification loss, such as {@code loss_cls: {type: focal, gamma: 2}}. */
public interface ClassificationLoss extends ComponentConfig {

    /**
     * Returns the weighted sum times {@code loss_weight}: a differentiable scalar, 0 without boxes.
     *
     * @param logits {@code [N, K]} float32, K = {@link #outChannels}
     * @param labels {@code [N]} int32 in [0, C]; C is background
     * @param weights {@code [N]} float32; 0 for boxes excluded from training
     */
    NDArray sum(NDArray logits, NDArray labels, NDArray weights);

    /**
     * Returns whether each class has its own sigmoid, instead of one softmax with background last.
     */
    default boolean useSigmoid() {
        return true;
    }

    /** Returns the number of logits per box: C, or C + 1 with softmax. */
    default int outChannels(int numClasses) {
        return useSigmoid() ? numClasses : numClasses + 1;
    }
}
