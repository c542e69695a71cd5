package dev.saccade.datasets.pillow;

import java.util.SplittableRandom;

/** Interpolation of pixels when resizing, rotating and shearing. */
public enum Interpolation {
    BILINEAR,
    BICUBIC,
    /** {@link #BILINEAR} or {@link #BICUBIC}, chosen for each image. */
    RANDOM;

    Interpolation choose(SplittableRandom random) {
        return this == RANDOM ? (random.nextInt(2) == 0 ? BILINEAR : BICUBIC) : this;
    }

    /** Returns the radius of the resize filter in output pixels. */
    double support() {
        return this == BICUBIC ? 2 : 1;
    }

    /** Returns the weight of the resize filter at a distance; bicubic with a = -0.5. */
    double weight(double distance) {
        double x = Math.abs(distance);
        if (this == BILINEAR) {
            return x < 1 ? 1 - x : 0;
        }
        double a = -0.5;
        if (x < 1) {
            return ((a + 2) * x - (a + 3)) * x * x + 1;
        }
        return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
    }
}
