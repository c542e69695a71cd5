package dev.saccade.datasets.pillow;

import org.opencv.core.Mat;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;

/**
 * The operators of timm's RandAugment and AutoAugment, with its magnitudes from 0 to 10.
 * "Increasing" operators change the image more at higher magnitudes.
 */
public enum AugmentOperator {
    AUTO_CONTRAST,
    EQUALIZE,
    INVERT,
    ROTATE,
    POSTERIZE,
    POSTERIZE_INCREASING,
    POSTERIZE_ORIGINAL,
    SOLARIZE,
    SOLARIZE_INCREASING,
    SOLARIZE_ADD,
    COLOR,
    COLOR_INCREASING,
    CONTRAST,
    CONTRAST_INCREASING,
    BRIGHTNESS,
    BRIGHTNESS_INCREASING,
    SHARPNESS,
    SHARPNESS_INCREASING,
    SHEAR_X,
    SHEAR_Y,
    TRANSLATE_X_REL,
    TRANSLATE_Y_REL;

    /**
     * Strength of an operator.
     *
     * @param magnitude from 0 to 10
     * @param negate whether operators with a direction use the opposite direction
     * @param fill RGB color outside of the image
     */
    public record Level(
            double magnitude, boolean negate, Interpolation interpolation, List<Integer> fill) {

        private double fraction() {
            return magnitude / 10;
        }

        private double signed() {
            return negate ? -fraction() : fraction();
        }
    }

    PillowImage apply(PillowImage image, Level level) {
        return switch (this) {
            case AUTO_CONTRAST -> PillowColors.autoContrast(image);
            case EQUALIZE -> PillowColors.equalize(image);
            case INVERT -> PillowColors.invert(image);
            case ROTATE -> rotate(image, level.signed() * 30, level);
            case POSTERIZE -> PillowColors.posterize(image, (int) (level.fraction() * 4));
            case POSTERIZE_INCREASING ->
                    PillowColors.posterize(image, 4 - (int) (level.fraction() * 4));
            case POSTERIZE_ORIGINAL ->
                    PillowColors.posterize(image, 4 + (int) (level.fraction() * 4));
            case SOLARIZE -> PillowColors.solarize(image, threshold(level));
            case SOLARIZE_INCREASING -> PillowColors.solarize(image, 256 - threshold(level));
            case SOLARIZE_ADD ->
                    PillowColors.solarizeAdd(image, Math.min(128, (int) (level.fraction() * 110)));
            case COLOR -> PillowColors.color(image, factor(level));
            case COLOR_INCREASING -> PillowColors.color(image, increasing(level));
            case CONTRAST -> PillowColors.contrast(image, factor(level));
            case CONTRAST_INCREASING -> PillowColors.contrast(image, increasing(level));
            case BRIGHTNESS -> PillowColors.brightness(image, factor(level));
            case BRIGHTNESS_INCREASING -> PillowColors.brightness(image, increasing(level));
            case SHARPNESS -> PillowColors.sharpness(image, factor(level));
            case SHARPNESS_INCREASING -> PillowColors.sharpness(image, increasing(level));
            case SHEAR_X -> affine(image, level, 1, level.signed() * 0.3, 0, 0, 1, 0);
            case SHEAR_Y -> affine(image, level, 1, 0, 0, level.signed() * 0.3, 1, 0);
            case TRANSLATE_X_REL ->
                    affine(image, level, 1, 0, level.signed() * 0.45 * image.width(), 0, 1, 0);
            case TRANSLATE_Y_REL ->
                    affine(image, level, 1, 0, 0, 0, 1, level.signed() * 0.45 * image.height());
        };
    }

    /** Returns a new {@code [H, W, 3]} uint8 BGR image. */
    public Mat apply(Mat image, Level level) {
        return apply(PillowImage.of(image), level).toMat();
    }

    private static int threshold(Level level) {
        return Math.min(256, (int) (level.fraction() * 256));
    }

    private static double factor(Level level) {
        return level.fraction() * 1.8 + 0.1;
    }

    private static double increasing(Level level) {
        return Math.max(0.1, 1 + level.signed() * 0.9);
    }

    private static PillowImage affine(PillowImage image, Level level, double... matrix) {
        return PillowAffine.transform(image, matrix, level.interpolation, level.fill);
    }

    /** Rotates around the center; like Pillow, copies the image at multiples of 180 degrees. */
    private static PillowImage rotate(PillowImage image, double degrees, Level level) {
        double turned = degrees % 360;
        if (turned < 0) {
            turned += 360;
        }
        if (turned == 0) {
            return image;
        }
        double angle = -Math.toRadians(turned);
        double cos = rounded(Math.cos(angle));
        double sin = rounded(Math.sin(angle));
        double minusSin = rounded(-Math.sin(angle));
        double x = image.width() / 2.0;
        double y = image.height() / 2.0;
        return affine(
                image,
                level,
                cos,
                sin,
                cos * -x + sin * -y + x,
                minusSin,
                cos,
                minusSin * -x + cos * -y + y);
    }

    /** Rounds to 15 decimals, half to even, as Pillow does. */
    private static double rounded(double value) {
        return new BigDecimal(value).setScale(15, RoundingMode.HALF_EVEN).doubleValue();
    }
}
