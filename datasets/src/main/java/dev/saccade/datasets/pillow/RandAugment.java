package dev.saccade.datasets.pillow;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Applies random operators (Cubuk et al. 2020), like timm's {@code RandAugment}. The defaults are
 * {@code rand-m9-mstd0.5-inc1}.
 *
 * @param numLayers number of operators, sampled with replacement; each is applied with probability
 *     {@code prob}
 * @param magnitude from 0 to 10
 * @param magnitudeStd standard deviation of the magnitude
 * @param increasing whether every operator changes the image more at higher magnitudes
 * @param fill RGB color outside of rotated and shifted images
 */
@Component("rand_augment")
public record RandAugment(
        @Default("2") int numLayers,
        @Default("9") double magnitude,
        @Default("0.5") double magnitudeStd,
        @Default("true") boolean increasing,
        @Default("0.5") double prob,
        @Default("bicubic") Interpolation interpolation,
        @Default("[124, 116, 104]") List<Integer> fill)
        implements Transform {

    private static final List<AugmentOperator> INCREASING =
            List.of(
                    AugmentOperator.AUTO_CONTRAST,
                    AugmentOperator.EQUALIZE,
                    AugmentOperator.INVERT,
                    AugmentOperator.ROTATE,
                    AugmentOperator.POSTERIZE_INCREASING,
                    AugmentOperator.SOLARIZE_INCREASING,
                    AugmentOperator.SOLARIZE_ADD,
                    AugmentOperator.COLOR_INCREASING,
                    AugmentOperator.CONTRAST_INCREASING,
                    AugmentOperator.BRIGHTNESS_INCREASING,
                    AugmentOperator.SHARPNESS_INCREASING,
                    AugmentOperator.SHEAR_X,
                    AugmentOperator.SHEAR_Y,
                    AugmentOperator.TRANSLATE_X_REL,
                    AugmentOperator.TRANSLATE_Y_REL);

    private static final List<AugmentOperator> ORIGINAL =
            List.of(
                    AugmentOperator.AUTO_CONTRAST,
                    AugmentOperator.EQUALIZE,
                    AugmentOperator.INVERT,
                    AugmentOperator.ROTATE,
                    AugmentOperator.POSTERIZE,
                    AugmentOperator.SOLARIZE,
                    AugmentOperator.SOLARIZE_ADD,
                    AugmentOperator.COLOR,
                    AugmentOperator.CONTRAST,
                    AugmentOperator.BRIGHTNESS,
                    AugmentOperator.SHARPNESS,
                    AugmentOperator.SHEAR_X,
                    AugmentOperator.SHEAR_Y,
                    AugmentOperator.TRANSLATE_X_REL,
                    AugmentOperator.TRANSLATE_Y_REL);

    public RandAugment {
        fill = List.copyOf(fill);
        new Checks()
                .inRange("num_layers", numLayers, 0, 100)
                .inRange("magnitude", magnitude, 0, 10)
                .inRange("magnitude_std", magnitudeStd, 0, 100)
                .inRange("prob", prob, 0, 1)
                .each("fill", fill, 3, 0, 255)
                .throwIfAny();
    }

    @Override
    public Optional<String> incompatibility(TargetKind targets) {
        return PillowImage.incompatibility(type(), targets);
    }

    @Override
    public Optional<String> incompatibility(PixelFormat pixels) {
        return Transform.requireRgb8(type(), pixels);
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        PillowImage image = PillowImage.of(sample.image());
        List<AugmentOperator> choices = increasing ? INCREASING : ORIGINAL;
        for (int layer = 0; layer < numLayers; layer++) {
            image = operator(choices.get(random.nextInt(choices.size()))).apply(image, random);
        }
        return PillowImage.replace(sample, image);
    }

    private RandomOperator operator(AugmentOperator operator) {
        return new RandomOperator(operator, prob, magnitude, magnitudeStd, interpolation, fill);
    }
}
