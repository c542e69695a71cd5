package dev.saccade.datasets.transforms;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import java.util.SplittableRandom;

/**
 * Adds zeros bottom and right until both edges are multiples of a number; after normalising, so
 * that they are the mean colour.
 *
 * @param divisor what the edges become multiples of
 */
public record Pad(int divisor) implements Transform {

    /** Multiples of 32, the coarsest stride of a ResNet. */
    public Pad() {
        this(32);
    }

    /** Checks the divisor. */
    public Pad {
        checkArgument(divisor > 0, "divisor: a positive number expected, got %s", divisor);
    }

    @Override
    public String type() {
        return "pad";
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        return sample.withPadding(sample.info().size().roundUpTo(divisor));
    }
}
