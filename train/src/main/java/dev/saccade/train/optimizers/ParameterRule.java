package dev.saccade.train.optimizers;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * Another learning rate or weight decay for some parameters.
 *
 * @param learningRateFactor what the learning rate is multiplied by
 * @param weightDecayFactor what the weight decay is multiplied by; 0 for no decay
 */
public record ParameterRule(double learningRateFactor, double weightDecayFactor) {

    /** Changes nothing. */
    public ParameterRule() {
        this(1, 1);
    }

    /** Checks the values. */
    public ParameterRule {
        checkArgument(
                learningRateFactor >= 0, "learning_rate_factor %s is below 0", learningRateFactor);
        checkArgument(
                weightDecayFactor >= 0, "weight_decay_factor %s is below 0", weightDecayFactor);
    }
}
