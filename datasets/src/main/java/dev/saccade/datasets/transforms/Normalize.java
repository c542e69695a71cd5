package dev.saccade.datasets.transforms;

import com.google.common.primitives.Floats;

import dev.saccade.core.Checks;
import dev.saccade.core.Text;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.datasets.Normalization;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Converts BGR pixels to RGB and {@code (value - mean) / std}, when the sample is written to a
 * batch.
 *
 * @param mean of each channel, such as red, green and blue, in 0..255
 * @param std of each channel
 */
@Component("normalize")
public record Normalize(
        @Default("[123.675, 116.28, 103.53]") List<Double> mean,
        @Default("[58.395, 57.12, 57.375]") List<Double> std)
        implements Transform {

    private static final int PLACEHOLDER_MEAN = 128;
    private static final int PLACEHOLDER_STD = 64;

    public Normalize {
        mean = List.copyOf(mean);
        std = List.copyOf(std);
        new Checks()
                .size("mean", mean, 1, PixelFormat.MAX_CHANNELS)
                .each("mean", mean, -1e6, 1e6)
                .size("std", std, mean.size(), mean.size())
                .each("std", std, 1e-6, 1e6)
                .throwIfAny();
    }

    @Override
    public boolean mustBeLast() {
        return true;
    }

    @Override
    public Optional<String> incompatibility(PixelFormat pixels) {
        return mean.size() == pixels.channels()
                ? Optional.empty()
                : Optional.of(
                        Text.format(
                                "normalize: mean and std have %d values, but the images have %d"
                                        + " channels; set one value per channel: first mean: %s"
                                        + " and std: %s, then the values that the check of the"
                                        + " data set prints",
                                mean.size(),
                                pixels.channels(),
                                Collections.nCopies(pixels.channels(), PLACEHOLDER_MEAN),
                                Collections.nCopies(pixels.channels(), PLACEHOLDER_STD)));
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        return sample.withNormalization(
                new Normalization(Floats.toArray(mean), Floats.toArray(std)));
    }
}
