package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Adds zeros bottom and right, after normalizing, so that they are the mean color; the class of
 * these pixels is ignored.
 *
 * @param size height and width that are reached, an edge that is longer stays. If empty, those of
 *     {@code crop_size} of the data in training; where it has none, both edges become multiples of
 *     {@code divisor} instead
 * @param divisor what the edges become multiples of without a size
 */
@Part("pad")
public record Pad(@Default("[]") List<Integer> size, @Default("32") int divisor)
        implements Transform {

    /** Checks the numbers. */
    public Pad {
        size = List.copyOf(size);
        new Checks()
                .size("size", size, size.isEmpty() ? 0 : 2, 2)
                .each("size", size, 1, InputSize.MAX_EDGE)
                .inRange("divisor", divisor, 1, 4096)
                .throwIfAny();
    }

    @Override
    public Pad withDefaultSize(InputSize input) {
        return size.isEmpty() ? new Pad(input.cropSize().orElse(List.of()), divisor) : this;
    }

    @Override
    public boolean mustBeLast() {
        return true;
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        Size image = sample.info().size();
        return sample.withPadding(
                size.isEmpty()
                        ? image.roundUpTo(divisor)
                        : image.union(new Size(size.get(0), size.get(1))));
    }
}
