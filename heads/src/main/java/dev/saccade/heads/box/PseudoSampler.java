package dev.saccade.heads.box;

import dev.saccade.core.parts.Part;

import java.util.SplittableRandom;

/**
 * Trains all priors that are assigned to an object or to background, as one-stage heads do whose
 * loss can bear it; mmdetection's {@code PseudoSampler}. Losses are means over the positive ones.
 */
@Part("pseudo")
public record PseudoSampler() implements BaseSampler {

    @Override
    public SamplingResult sample(Assignment assignment, SplittableRandom random) {
        return new SamplingResult(assignment.positives(), assignment.negatives(), false);
    }
}
