package dev.saccade.train.optimizers;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * Another learning rate or weight decay for the parameters whose dotted name contains a text.
 *
 * <p>Of several rules that match, the longest text counts, among equally long ones the first of the
 * alphabet (the {@code custom_keys} of mmcv).
 *
 * @param match part of a dotted name, such as {@code norm} or {@code backbone.layer4}
 * @param learningRateFactor what the learning rate is multiplied by
 * @param weightDecayFactor what the weight decay is multiplied by; 0 for no decay
 */
public record ParameterRule(String match, double learningRateFactor, double weightDecayFactor) {

    /** A rule that changes nothing, for the defaults of its keys. */
    public ParameterRule() {
        this(".", 1, 1);
    }

    /** Checks the values. */
    public ParameterRule {
        checkArgument(!match.isEmpty(), "match must not be empty");
        checkArgument(
                learningRateFactor >= 0, "learning_rate_factor %s below 0", learningRateFactor);
        checkArgument(weightDecayFactor >= 0, "weight_decay_factor %s below 0", weightDecayFactor);
    }
}
