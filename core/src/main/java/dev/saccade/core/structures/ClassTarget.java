package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * Target of an image classifier: a class, or a mixture of two classes after mixup or CutMix.
 *
 * @param label class index
 * @param other class index of the second image; equal to {@code label} without a mixture
 * @param weight fraction of {@code label} in [0, 1]; the rest is {@code other}
 */
public record ClassTarget(int label, int other, double weight) {

    public ClassTarget {
        checkArgument(weight >= 0 && weight <= 1, "weight: got %s, expected 0 to 1", weight);
    }

    public static ClassTarget of(int label) {
        return new ClassTarget(label, label, 1);
    }

    /** Returns a mixture of two unmixed targets. */
    public ClassTarget mix(ClassTarget second, double fraction) {
        return new ClassTarget(label, second.label, fraction);
    }
}
