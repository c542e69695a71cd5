package dev.saccade.datasets.pillow;

import com.google.common.base.Splitter;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Applies a random pair of operators of a policy (Cubuk et al. 2019), like timm's {@code
 * AutoAugment}.
 *
 * @param magnitudeStd standard deviation of the magnitudes
 * @param fill RGB color outside of rotated and shifted images
 */
@Component("auto_augment")
public record AutoAugment(
        @Default("original") Policy policy,
        @Default("0") double magnitudeStd,
        @Default("bicubic") Interpolation interpolation,
        @Default("[124, 116, 104]") List<Integer> fill)
        implements Transform {

    /** The ImageNet policies of timm; a line is a pair of operators. */
    public enum Policy {
        /** The policy of the paper. */
        ORIGINAL(
                """
                POSTERIZE_ORIGINAL 0.4 8 ROTATE 0.6 9
                SOLARIZE 0.6 5 AUTO_CONTRAST 0.6 5
                EQUALIZE 0.8 8 EQUALIZE 0.6 3
                POSTERIZE_ORIGINAL 0.6 7 POSTERIZE_ORIGINAL 0.6 6
                EQUALIZE 0.4 7 SOLARIZE 0.2 4
                EQUALIZE 0.4 4 ROTATE 0.8 8
                SOLARIZE 0.6 3 EQUALIZE 0.6 7
                POSTERIZE_ORIGINAL 0.8 5 EQUALIZE 1 2
                ROTATE 0.2 3 SOLARIZE 0.6 8
                EQUALIZE 0.6 8 POSTERIZE_ORIGINAL 0.4 6
                ROTATE 0.8 8 COLOR 0.4 0
                ROTATE 0.4 9 EQUALIZE 0.6 2
                EQUALIZE 0 7 EQUALIZE 0.8 8
                INVERT 0.6 4 EQUALIZE 1 8
                COLOR 0.6 4 CONTRAST 1 8
                ROTATE 0.8 8 COLOR 1 2
                COLOR 0.8 8 SOLARIZE 0.8 7
                SHARPNESS 0.4 7 INVERT 0.6 8
                SHEAR_X 0.6 5 EQUALIZE 1 9
                COLOR 0.4 0 EQUALIZE 0.6 3
                EQUALIZE 0.4 7 SOLARIZE 0.2 4
                SOLARIZE 0.6 5 AUTO_CONTRAST 0.6 5
                INVERT 0.6 4 EQUALIZE 1 8
                COLOR 0.6 4 CONTRAST 1 8
                EQUALIZE 0.8 8 EQUALIZE 0.6 3
                """),
        /** {@link #ORIGINAL}; a higher magnitude of posterize removes more bits. */
        ORIGINALR(ORIGINAL.pairs.replace("POSTERIZE_ORIGINAL", "POSTERIZE_INCREASING")),
        /** The policy of the EfficientNet code. */
        V0(
                """
                EQUALIZE 0.8 1 SHEAR_Y 0.8 4
                COLOR 0.4 9 EQUALIZE 0.6 3
                COLOR 0.4 1 ROTATE 0.6 8
                SOLARIZE 0.8 3 EQUALIZE 0.4 7
                SOLARIZE 0.4 2 SOLARIZE 0.6 2
                COLOR 0.2 0 EQUALIZE 0.8 8
                EQUALIZE 0.4 8 SOLARIZE_ADD 0.8 3
                SHEAR_X 0.2 9 ROTATE 0.6 8
                COLOR 0.6 1 EQUALIZE 1 2
                INVERT 0.4 9 ROTATE 0.6 0
                EQUALIZE 1 9 SHEAR_Y 0.6 3
                COLOR 0.4 7 EQUALIZE 0.6 0
                POSTERIZE 0.4 6 AUTO_CONTRAST 0.4 7
                SOLARIZE 0.6 8 COLOR 0.6 9
                SOLARIZE 0.2 4 ROTATE 0.8 9
                ROTATE 1 7 TRANSLATE_Y_REL 0.8 9
                SHEAR_X 0 0 SOLARIZE 0.8 4
                SHEAR_Y 0.8 0 COLOR 0.6 4
                COLOR 1 0 ROTATE 0.6 2
                EQUALIZE 0.8 4 EQUALIZE 0 8
                EQUALIZE 1 4 AUTO_CONTRAST 0.6 2
                SHEAR_Y 0.4 7 SOLARIZE_ADD 0.6 7
                POSTERIZE 0.8 2 SOLARIZE 0.6 10
                SOLARIZE 0.6 8 EQUALIZE 0.6 1
                COLOR 0.8 6 ROTATE 0.4 5
                """),
        /** {@link #V0}; a higher magnitude of posterize removes more bits. */
        V0R(V0.pairs.replace("POSTERIZE", "POSTERIZE_INCREASING"));

        private final String pairs;

        Policy(String pairs) {
            this.pairs = pairs;
        }
    }

    public AutoAugment {
        fill = List.copyOf(fill);
        new Checks()
                .inRange("magnitude_std", magnitudeStd, 0, 100)
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
        List<String> lines = policy.pairs.lines().toList();
        PillowImage image = PillowImage.of(sample.image());
        for (RandomOperator operator : operators(lines.get(random.nextInt(lines.size())))) {
            image = operator.apply(image, random);
        }
        return PillowImage.replace(sample, image);
    }

    /** Returns the operators of a line: names, probabilities and magnitudes. */
    private List<RandomOperator> operators(String line) {
        List<String> words = Splitter.on(' ').splitToList(line);
        List<RandomOperator> operators = new ArrayList<>();
        for (int i = 0; i < words.size(); i += 3) {
            operators.add(
                    new RandomOperator(
                            AugmentOperator.valueOf(words.get(i)),
                            Double.parseDouble(words.get(i + 1)),
                            Double.parseDouble(words.get(i + 2)),
                            magnitudeStd,
                            interpolation,
                            fill));
        }
        return operators;
    }
}
