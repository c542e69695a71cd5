package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;

import org.opencv.core.Mat;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Randomly changes brightness, contrast, saturation and hue, each with a probability of 0.5 (SSD's
 * augmentation).
 *
 * <p>The detection variant computes in floats without clipping, and may permute channels. The
 * segmentation variant computes in bytes, truncates after every step, and does not permute.
 *
 * @param brightness maximum change in gray levels
 * @param contrast range of the factor
 * @param saturation range of the factor
 * @param hue maximum change, in degrees (detection) or units of two degrees (segmentation)
 */
@Component("photometric_distortion")
public record PhotometricDistortion(
        @Default("detection") Variant variant,
        @Default("32") double brightness,
        @Default("[0.5, 1.5]") List<Double> contrast,
        @Default("[0.5, 1.5]") List<Double> saturation,
        @Default("18") int hue)
        implements Transform {

    public enum Variant {
        /** mmdetection's, on floats. */
        DETECTION,
        /** mmsegmentation's, on bytes. */
        SEGMENTATION
    }

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
     * Sampled parameters; empty for steps that are skipped.
     *
     * @param brightness added to all channels
     * @param contrastFirst whether contrast precedes the color changes
     * @param contrast factor of all channels
     * @param saturation factor of the saturation
     * @param hue added to the hue
     * @param permutation new order of the channels; empty to keep it
     */
    public record Parameters(
            Optional<Double> brightness,
            boolean contrastFirst,
            Optional<Double> contrast,
            Optional<Double> saturation,
            Optional<Double> hue,
            List<Integer> permutation) {

        public Parameters {
            permutation = List.copyOf(permutation);
        }
    }

    @Override
    public Optional<String> incompatibility(PixelFormat pixels) {
        return variant == Variant.SEGMENTATION
                ? Transform.requireRgb8("photometric_distortion of variant segmentation", pixels)
                : Transform.requireRgb(type(), pixels);
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        Mat distorted = distort(sample.image(), sample(random));
        return sample.with(distorted, sample.info(), sample.targets());
    }

    /** Applies parameters to [H, W, 3] BGR in 0..255; returns float32 or uint8 by variant. */
    public Mat distort(Mat image, Parameters params) {
        return switch (variant) {
            case DETECTION -> FloatDistortion.apply(image, params);
            case SEGMENTATION -> ByteDistortion.apply(image, params);
        };
    }

    private Parameters sample(SplittableRandom random) {
        Optional<Double> brightnessShift = sampleIfApplied(random, -brightness, brightness);
        boolean contrastFirst = random.nextBoolean();
        Optional<Double> contrastFactor = sampleIfApplied(random, contrast.get(0), contrast.get(1));
        Optional<Double> saturationFactor =
                sampleIfApplied(random, saturation.get(0), saturation.get(1));
        Optional<Double> hueShift = sampleIfApplied(random, -hue, hue);
        boolean isDetection = variant == Variant.DETECTION;
        return new Parameters(
                brightnessShift,
                contrastFirst,
                contrastFactor,
                saturationFactor,
                isDetection ? hueShift : hueShift.map(Math::floor),
                isDetection && random.nextBoolean() ? permutation(random) : List.of());
    }

    private static Optional<Double> sampleIfApplied(
            SplittableRandom random, double low, double high) {
        // Also samples the value of a skipped step, so that later steps get the same numbers.
        boolean isApplied = random.nextBoolean();
        double value = low + (high - low) * random.nextDouble();
        return isApplied ? Optional.of(value) : Optional.empty();
    }

    private static List<Integer> permutation(SplittableRandom random) {
        int first = random.nextInt(3);
        int second = (first + 1 + random.nextInt(2)) % 3;
        return List.of(first, second, 3 - first - second);
    }
}
