package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;

import java.util.List;
import java.util.SplittableRandom;

/** Samples images and applies transforms until a sample is not rejected. */
record TransformedPool(SamplePool images, List<Transform> steps) implements SamplePool {

    private static final int MAX_DRAWS = 1000;

    @Override
    public Sample sample(SplittableRandom random) {
        for (int i = 0; i < MAX_DRAWS; i++) {
            Sample sample = Transform.applyAll(steps, images.sample(random), images, random);
            if (!sample.rejected()) {
                return sample;
            }
            sample.close();
        }
        throw SaccadeException.user(
                "the transforms rejected all of %d sampled images; use images with larger"
                        + " objects, or set allow_negative_crop: true",
                MAX_DRAWS);
    }

    @Override
    public SamplePool untransformed() {
        return images.untransformed();
    }
}
