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

    /** Always throws; for use without a data set. */
    SamplePool NONE =
            random -> {
                throw SaccadeException.user("cannot sample another image without a data set");
            };

    /** Returns a random sample, possibly of the same image; the caller closes it. */
    Sample sample(SplittableRandom random);

    /** Returns a pool of transformed samples that are not {@linkplain Sample#rejected rejected}. */
    default SamplePool after(List<Transform> steps) {
        return steps.isEmpty() || this == NONE ? this : new TransformedPool(this, steps);
    }

    /** Returns the pool of images before any transform. */
    default SamplePool untransformed() {
        return this;
    }
}
