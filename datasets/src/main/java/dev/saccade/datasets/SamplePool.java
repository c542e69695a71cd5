package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Samples other images of the same data set, for transforms that mix images (mmdetection's {@code
 * MultiImageMixDataset}). Thread-safe.
 */
@FunctionalInterface
public interface SamplePool {

    int MAX_DRAWS = 1000;

    /** Always throws; for use without a data set. */
    SamplePool NONE =
            random -> {
                throw SaccadeException.user("cannot sample another image without a data set");
            };

    /** Returns a random sample, possibly of the same image; the caller closes it. */
    Sample sample(SplittableRandom random);

    /** Returns a pool of transformed samples that are not {@linkplain Sample#rejected rejected}. */
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
                    "the transforms rejected all of %d sampled images; use images with larger"
                            + " objects, or set allow_negative_crop: true",
                    MAX_DRAWS);
        };
    }
}
