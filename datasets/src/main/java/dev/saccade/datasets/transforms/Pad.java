package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Pads the bottom and right with zeros after normalization, so padding has the mean color; padded
 * pixels of label maps are ignored.
 *
 * @param size minimum height and width; longer edges are kept. If empty, the data's {@code
 *     crop_size} in training, or else multiples of {@code divisor}
 * @param divisor both edges become multiples of this number if no size is set
 */
@Component("pad")
public record Pad(@Default("[]") List<Integer> size, @Default("32") int divisor)
        implements Transform {

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
