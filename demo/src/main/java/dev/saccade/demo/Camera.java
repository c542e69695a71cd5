package dev.saccade.demo;

import dev.saccade.core.structures.Size;

import java.util.SplittableRandom;

/**
 * What a plain camera makes of the light: uneven lighting, exposure, a soft lens that darkens
 * towards the corners, a noisy sensor, and a tone curve.
 */
final class Camera {

    private final SplittableRandom random;
    private final double gradientX;
    private final double gradientY;
    private final double dapples;
    private final Noise foliage;
    private final double vignette;
    private final double exposure;
    private final double softness;
    private final double shotNoise;

    Camera(SplittableRandom random) {
        this.random = random;
        gradientX = Range.draw(random, -0.3, 0.3);
        gradientY = Range.draw(random, -0.3, 0.3);
        dapples = random.nextInt(4) == 0 ? Range.draw(random, 0.25, 0.5) : 0;
        foliage = new Noise(random);
        vignette = Range.draw(random, 0.1, 0.4);
        exposure = Range.draw(random, 0.22, 0.34);
        softness = Range.draw(random, 0.35, 0.75);
        shotNoise = Range.draw(random, 0.006, 0.02);
    }

    /**
     * Returns the picture as the camera stores it.
     *
     * @param light linear light, {@code [H, W, 3]}; used up
     * @return screen values, {@code [H, W, 3]}, blue first as OpenCV wants them
     */
    byte[] develop(float[] light, Size size) {
        double mean = illuminate(light, size);
        Blur.gaussian(light, size, softness * Math.min(size.height(), size.width()) / 280.0);
        double gain = Math.min(Math.max(exposure / mean, 0.75), 1.8);
        byte[] bgr = new byte[light.length];
        for (int i = 0; i < light.length; i++) {
            double value = Math.max(gain * light[i], 0);
            double noisy = value + shotNoise * Math.sqrt(value + 0.02) * random.nextGaussian();
            bgr[i + 2 - 2 * (i % 3)] = (byte) Math.rint(255 * tone(noisy));
        }
        return bgr;
    }

    /** Makes the lighting uneven and returns the mean of what results. */
    private double illuminate(float[] light, Size size) {
        double sum = 0;
        for (int y = 0; y < size.height(); y++) {
            for (int x = 0; x < size.width(); x++) {
                double fromCenterX = (x + 0.5) / size.width() - 0.5;
                double fromCenterY = (y + 0.5) / size.height() - 0.5;
                float share = (float) illumination(fromCenterX, fromCenterY);
                int at = 3 * (y * size.width() + x);
                for (int c = 0; c < 3; c++) {
                    light[at + c] *= share;
                    sum += light[at + c];
                }
            }
        }
        return sum / light.length;
    }

    private double illumination(double x, double y) {
        double pool = 1 + gradientX * 2 * x + gradientY * 2 * y;
        double shade =
                dapples == 0
                        ? 0
                        : dapples * Shapes.step(-0.15, 0.3, foliage.fractal(2.3 * x, 2.3 * y, 2));
        double corner = x * x + y * y;
        return pool * (1 - shade) * (1 - vignette * 2 * corner);
    }

    /** The screen's curve with a shoulder, so that highlights do not clip hard. */
    private static double tone(double value) {
        double soft = value < 0.7 ? value : 0.7 + 0.3 * Math.tanh((value - 0.7) / 0.3);
        return Math.pow(Math.max(soft, 0), 1 / 2.2);
    }
}
