package dev.saccade.demo;

import java.util.SplittableRandom;

/** Gradient noise over the plane (Perlin, "Improving Noise", 2002). */
final class Noise {

    private static final int CELLS = 256;
    private static final double[] SLOPE_X = {1, 1, -1, -1, 1.4, -1.4, 0, 0};
    private static final double[] SLOPE_Y = {1, -1, 1, -1, 0, 0, 1.4, -1.4};

    private final int[] permutation = new int[2 * CELLS];

    Noise(SplittableRandom random) {
        for (int i = 0; i < CELLS; i++) {
            int j = random.nextInt(i + 1);
            permutation[i] = permutation[j];
            permutation[j] = i;
        }
        System.arraycopy(permutation, 0, permutation, CELLS, CELLS);
    }

    /** Returns noise in about -1 to 1, with features one unit wide. */
    double at(double x, double y) {
        int column = (int) Math.floor(x);
        int row = (int) Math.floor(y);
        double dx = x - column;
        double dy = y - row;
        double fade = fade(dx);
        double upper = lerp(fade, slope(column, row, dx, dy), slope(column + 1, row, dx - 1, dy));
        double left = slope(column, row + 1, dx, dy - 1);
        double lower = lerp(fade, left, slope(column + 1, row + 1, dx - 1, dy - 1));
        return lerp(fade(dy), upper, lower);
    }

    /** Returns the sum of octaves; each has half the size and strength of the previous one. */
    double fractal(double x, double y, int octaves) {
        double sum = 0;
        double strength = 1;
        for (int octave = 0; octave < octaves; octave++) {
            sum += strength * at(x, y);
            strength /= 2;
            x = 2 * x + 17.3;
            y = 2 * y + 5.9;
        }
        return sum;
    }

    /** Returns white noise in 0 to 1, constant within each unit cell. */
    double cell(double x, double y) {
        return hash((int) Math.floor(x), (int) Math.floor(y)) / (double) CELLS;
    }

    private double slope(int column, int row, double dx, double dy) {
        int direction = hash(column, row) & 7;
        return SLOPE_X[direction] * dx + SLOPE_Y[direction] * dy;
    }

    private int hash(int column, int row) {
        return permutation[permutation[column & (CELLS - 1)] + (row & (CELLS - 1))];
    }

    private static double fade(double t) {
        return t * t * t * (t * (6 * t - 15) + 10);
    }

    private static double lerp(double t, double a, double b) {
        return a + t * (b - a);
    }
}
