package dev.saccade.heads.box;

import dev.saccade.core.parts.PartConfig;

import java.util.SplittableRandom;

/**
 * Chooses which of the assigned priors of an image are trained; a part that YAML names by {@code
 * type}, such as {@code sampler: {type: random, num: 256}}.
 *
 * <p>To bring one of your own, implement this with a record and list the record in a {@link
 * dev.saccade.core.parts.PartProvider}. Arrays are where the features are; on a GPU one that reads
 * values holds up the whole step.
 */
public interface BaseSampler extends PartConfig {

    /**
     * Chooses among the priors of an image, at most {@link #num} of them.
     *
     * @param assignment what each of them should learn
     * @param random of this image and this head in this epoch; all that is random comes from here
     */
    SamplingResult sample(Assignment assignment, SplittableRandom random);

    /** Returns how many priors of an image are trained at most. */
    default int num() {
        return Integer.MAX_VALUE;
    }

    /** Returns how many of them are positive at most. */
    default int numPos() {
        return num();
    }

    /**
     * Returns whether the objects themselves join the regions that a second stage is trained on;
     * they never join anchors.
     */
    default boolean addGtAsProposals() {
        return false;
    }
}
