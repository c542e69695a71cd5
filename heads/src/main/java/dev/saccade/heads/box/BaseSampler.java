package dev.saccade.heads.box;

import dev.saccade.core.parts.PartConfig;

import java.util.SplittableRandom;

/**
 * Samples the priors of an image to train on; selected by {@code type} in YAML, such as {@code
 * sampler: {type: random, num: 256}}.
 *
 * <p>A custom sampler is a record that implements this interface and is listed in a {@link
 * dev.saccade.core.parts.PartProvider}. Arrays are on the device of the features; reading values on
 * the host stalls the GPU.
 */
public interface BaseSampler extends PartConfig {

    /**
     * Samples at most {@link #num} priors of an image.
     *
     * @param random seeded by image, head and epoch; the only permitted source of randomness
     */
    SamplingResult sample(Assignment assignment, SplittableRandom random);

    /** Returns the maximum number of sampled priors per image. */
    default int num() {
        return Integer.MAX_VALUE;
    }

    /** Returns the maximum number of positive samples per image. */
    default int numPos() {
        return num();
    }

    /**
     * Returns whether ground-truth boxes are added to the proposals of a second stage. Never
     * applies to anchors.
     */
    default boolean addGtAsProposals() {
        return false;
    }
}
