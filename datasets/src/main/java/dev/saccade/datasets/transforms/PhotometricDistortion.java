package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import org.opencv.core.Mat;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Changes brightness, contrast, saturation and hue, each every second time (SSD's augmentation).
 *
 * <p>Two published forms differ in more than rounding. That of detection works on floats, never
 * clips, and may exchange the color channels; that of segmentation works on bytes, rounds down
 * after every step, and leaves the channels alone.
 *
 * @param variant which of the two
 * @param brightness largest change in gray levels
 * @param contrast least and largest factor
 * @param saturation least and largest factor
 * @param hue largest change, in degrees (detection) or double degrees (segmentation)
 */
@Part("photometric_distortion")
public record PhotometricDistortion(
        @Default("detection") Variant variant,
        @Default("32") double brightness,
        @Default("[0.5, 1.5]") List<Double> contrast,
        @Default("[0.5, 1.5]") List<Double> saturation,
        @Default("18") int hue)
        implements Transform {

    /** Where the distortion was published. */
    public enum Variant {
        /** mmdetection's, on floats. */
        DETECTION,
        /** mmsegmentation's, on bytes. */
        SEGMENTATION
    }

    /** Checks the numbers. */
    public PhotometricDistortion {
        contrast = List.copyOf(contrast);
        saturation = List.copyOf(saturation);
        new Checks()
                .inRange("brightness", brightness, 0, 1000)
                .range("contrast", contrast, 0, 100)
                .range("saturation", saturation, 0, 100)
                .inRange("hue", hue, 0, 90)
                .throwIfAny();
    }

    /**
     * What was drawn; empty where a step is left out.
     *
     * @param brightness added to all channels
     * @param contrastFirst whether contrast comes before the changes of color or after them
     * @param contrast multiplies all channels
     * @param saturation multiplies the saturation
     * @param hue added to the hue
     * @param permutation which channel comes first, second and third; empty if they stay
     */
    public record Parameters(
            Optional<Double> brightness,
            boolean contrastFirst,
            Optional<Double> contrast,
            Optional<Double> saturation,
            Optional<Double> hue,
            List<Integer> permutation) {

        /** Keeps a copy of the list. */
        public Parameters {
            permutation = List.copyOf(permutation);
        }
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        Mat distorted = distort(sample.image(), draw(random));
        return sample.with(distorted, sample.info(), sample.targets());
    }

    /**
     * Returns an image after given steps, float32 or uint8 as the variant works.
     *
     * @param image [H, W, 3] BGR, uint8 or float32 in 0..255; stays as it is
     */
    public Mat distort(Mat image, Parameters draws) {
        return switch (variant) {
            case DETECTION -> FloatDistortion.apply(image, draws);
            case SEGMENTATION -> ByteDistortion.apply(image, draws);
        };
    }

    private Parameters draw(SplittableRandom random) {
        Optional<Double> brighter = maybe(random, -brightness, brightness);
        boolean contrastFirst = random.nextBoolean();
        Optional<Double> moreContrast = maybe(random, contrast.get(0), contrast.get(1));
        Optional<Double> moreColor = maybe(random, saturation.get(0), saturation.get(1));
        Optional<Double> turned = maybe(random, -hue, hue);
        boolean isDetection = variant == Variant.DETECTION;
        return new Parameters(
                brighter,
                contrastFirst,
                moreContrast,
                moreColor,
                isDetection ? turned : turned.map(Math::floor),
                isDetection && random.nextBoolean() ? permutation(random) : List.of());
    }

    private static Optional<Double> maybe(SplittableRandom random, double low, double high) {
        // Both numbers are drawn always, so that one step does not move the draws of the next.
        boolean taken = random.nextBoolean();
        double value = low + (high - low) * random.nextDouble();
        return taken ? Optional.of(value) : Optional.empty();
    }

    private static List<Integer> permutation(SplittableRandom random) {
        int first = random.nextInt(3);
        int second = (first + 1 + random.nextInt(2)) % 3;
        return List.of(first, second, 3 - first - second);
    }
}
