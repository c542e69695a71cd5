package dev.saccade.datasets.pillow;

import dev.saccade.core.Checks;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Changes brightness, contrast and saturation by random factors in random order, like torchvision's
 * {@code ColorJitter} without hue.
 *
 * @param brightness factors are from {@code max(0, 1 - brightness)} to {@code 1 + brightness}
 */
@Component("color_jitter")
public record ColorJitter(
        @Default("0.4") double brightness,
        @Default("0.4") double contrast,
        @Default("0.4") double saturation)
        implements Transform {

    public ColorJitter {
        new Checks()
                .inRange("brightness", brightness, 0, 100)
                .inRange("contrast", contrast, 0, 100)
                .inRange("saturation", saturation, 0, 100)
                .throwIfAny();
    }

    @Override
    public Optional<String> incompatibility(TargetKind targets) {
        return PillowImage.incompatibility(type(), targets);
    }

    /** A change of an image; factor 1 changes nothing. */
    public enum Adjustment {
        BRIGHTNESS,
        CONTRAST,
        SATURATION;

        private PillowImage apply(PillowImage image, double factor) {
            return switch (this) {
                case BRIGHTNESS -> PillowColors.brightness(image, factor);
                case CONTRAST -> PillowColors.contrast(image, factor);
                case SATURATION -> PillowColors.color(image, factor);
            };
        }
    }

    @Override
    public Optional<String> incompatibility(PixelFormat pixels) {
        return Transform.requireRgb8(type(), pixels);
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        List<Adjustment> order = new ArrayList<>(List.of(Adjustment.values()));
        SeededRandom.shuffle(order, random);
        Map<Adjustment, Double> factors = new LinkedHashMap<>();
        for (Adjustment adjustment : order) {
            double range =
                    switch (adjustment) {
                        case BRIGHTNESS -> brightness;
                        case CONTRAST -> contrast;
                        case SATURATION -> saturation;
                    };
            factors.put(adjustment, factor(range, random));
        }
        return adjust(sample, factors);
    }

    /** Applies adjustments with factors, in the order of the map. */
    public static Sample adjust(Sample sample, Map<Adjustment, Double> factors) {
        PillowImage image = PillowImage.of(sample.image());
        for (Map.Entry<Adjustment, Double> factor : factors.entrySet()) {
            image = factor.getKey().apply(image, factor.getValue());
        }
        return PillowImage.replace(sample, image);
    }

    private static double factor(double range, SplittableRandom random) {
        double least = Math.max(0, 1 - range);
        return least + (1 + range - least) * random.nextDouble();
    }
}
