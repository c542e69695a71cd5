package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Other samples of the data set that a sample is from, for a transform that puts several together
 * (mmdetection's {@code MultiImageMixDataset}). Safe for use by many threads.
 */
@FunctionalInterface
public interface SamplePool {

    /** As often mmdetection draws again before it gives up. */
    int MAX_DRAWS = 1000;

    /** Where there is no data set to draw from. */
    SamplePool NONE =
            random -> {
                throw SaccadeException.user("there are no other photographs to draw from");
            };

    /**
     * Returns a sample, maybe of the same photograph, which the caller closes.
     *
     * @param random the only source of draws
     */
    Sample sample(SplittableRandom random);

    /**
     * Returns these samples after several steps; another one is drawn in place of one that is
     * {@linkplain Sample#rejected rejected} on the way.
     */
    default SamplePool after(List<Transform> steps) {
        if (steps.isEmpty() || this == NONE) {
            return this;
        }
        return random -> {
            for (int i = 0; i < MAX_DRAWS; i++) {
                Sample sample = Transform.applyAll(steps, sample(random), this, random);
                if (!sample.rejected()) {
                    return sample;
                }
                sample.close();
            }
            throw SaccadeException.user(
                    "the transforms reject each of %d photographs drawn; expected one with an"
                            + " object left, or allow_negative_crop: true",
                    MAX_DRAWS);
        };
    }
}
