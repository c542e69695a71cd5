package dev.saccade.heads.box;

import dev.saccade.core.components.Component;

import java.util.SplittableRandom;

/**
 * Trains on all positive and background priors, like mmdetection's {@code PseudoSampler}. Losses
 * are averaged over the positive priors.
 */
@Component("pseudo")
public record PseudoSampler() implements BaseSampler {

    @Override
    public SamplingResult sample(Assignment assignment, SplittableRandom random) {
        return new SamplingResult(assignment.posMask(), assignment.negMask(), false);
    }
}
