package dev.saccade.datasets.pillow;

import java.util.List;
import java.util.SplittableRandom;

/**
 * An operator that is applied with a probability, at a random magnitude; timm's {@code AugmentOp}.
 *
 * @param magnitude mean of the magnitude, limited to 0 to 10
 * @param magnitudeStd standard deviation of the magnitude
 */
record RandomOperator(
        AugmentOperator operator,
        double prob,
        double magnitude,
        double magnitudeStd,
        Interpolation interpolation,
        List<Integer> fill) {

    private static final double MAX = 10;

    PillowImage apply(PillowImage image, SplittableRandom random) {
        if (prob < 1 && random.nextDouble() > prob) {
            return image;
        }
        double sampled =
                magnitudeStd > 0 ? magnitude + magnitudeStd * random.nextGaussian() : magnitude;
        double limited = Math.max(0, Math.min(MAX, sampled));
        boolean negate = random.nextBoolean();
        return operator.apply(
                image,
                new AugmentOperator.Level(limited, negate, interpolation.choose(random), fill));
    }
}
