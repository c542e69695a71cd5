package dev.saccade.train.optimizers;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;

/**
 * Another learning rate or weight decay for some parameters.
 *
 * @param learningRateFactor what the learning rate is multiplied by
 * @param weightDecayFactor what the weight decay is multiplied by; 0 for no decay
 */
public record ParameterRule(
        @Default("1") double learningRateFactor, @Default("1") double weightDecayFactor) {

    /** Leaves the learning rate and the weight decay as they are. */
    static final ParameterRule NONE = new ParameterRule(1, 1);

    /** Checks the values. */
    public ParameterRule {
        new Checks()
                .inRange("learning_rate_factor", learningRateFactor, 0, 1e6)
                .inRange("weight_decay_factor", weightDecayFactor, 0, 1e6)
                .throwIfAny();
    }
}
