package dev.saccade.train.optimizers;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;

/** Learning rate and weight decay factors of some parameters; 0 for no weight decay. */
public record ParameterRule(
        @Default("1") double learningRateFactor, @Default("1") double weightDecayFactor) {

    static final ParameterRule NONE = new ParameterRule(1, 1);

    public ParameterRule {
        new Checks()
                .inRange("learning_rate_factor", learningRateFactor, 0, 1e6)
                .inRange("weight_decay_factor", weightDecayFactor, 0, 1e6)
                .throwIfAny();
    }
}
