package dev.saccade.heads.classification;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.components.ClassActivation;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.ops.Functional;

/**
 * Loss of a class per image. To add a custom loss, implement this with a record and list it in a
 * {@link dev.saccade.core.components.ComponentProvider}.
 */
public interface ImageLoss extends ComponentConfig {

    /**
     * Returns the loss, a float32 scalar.
     *
     * @param logits {@code [N, K]}
     * @param targets {@code [N, K]} class distribution of each image, each row with sum 1
     */
    NDArray loss(NDArray logits, NDArray targets);

    /** Returns the function from logits to probabilities that this loss trains. */
    ClassActivation activation();

    /** Moves a fraction of each class to all K classes. */
    static NDArray smooth(NDArray targets, double fraction) {
        long classes = targets.getShape().get(1);
        return fraction == 0
                ? targets
                : Functional.add(Functional.mul(targets, 1 - fraction), fraction / classes);
    }
}
