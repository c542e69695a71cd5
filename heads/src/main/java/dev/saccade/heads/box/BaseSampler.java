package dev.saccade.heads.box;

import dev.saccade.core.components.ComponentConfig;

import java.util.SplittableRandom;

/**
 * Samples the priors of an image to train on, such as {@code sampler: {type: random, num: 256}}.
 *
 * <p>Arrays are on the device of the features; reading values on the host stalls the GPU.
 */
public interface BaseSampler extends ComponentConfig {

    /**
     * Samples at most {@link #num} priors.
     *
     * @param random seeded by image, head and epoch; the only permitted source of randomness
     */
    SamplingResult sample(Assignment assignment, SplittableRandom random);

    default int num() {
        return Integer.MAX_VALUE;
    }

    default int numPos() {
        return num();
    }

    /** Returns whether to add ground-truth boxes to the proposals; ignored for anchors. */
    default boolean addGtAsProposals() {
        return false;
    }
}
