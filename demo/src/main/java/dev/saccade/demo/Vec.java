package dev.saccade.demo;

import java.util.SplittableRandom;

/** A direction, or an RGB color in linear light. */
record Vec(double x, double y, double z) {

    /** Converts an sRGB color {@code 0xRRGGBB} to linear light. */
    static Vec color(int rgb) {
        return new Vec(linear(rgb >> 16), linear(rgb >> 8), linear(rgb));
    }

    /** Samples a color from a palette of {@code 0xRRGGBB} values. */
    static Vec sample(SplittableRandom random, int... palette) {
        return color(palette[random.nextInt(palette.length)]);
    }

    Vec mix(Vec other, double amount) {
        return times(1 - amount).plus(other.times(amount));
    }

    Vec times(double factor) {
        return new Vec(factor * x, factor * y, factor * z);
    }

    Vec times(Vec other) {
        return new Vec(x * other.x, y * other.y, z * other.z);
    }

    Vec plus(Vec other) {
        return new Vec(x + other.x, y + other.y, z + other.z);
    }

    double dot(Vec other) {
        return x * other.x + y * other.y + z * other.z;
    }

    /** Adds this color to a pixel of an image, {@code [H, W, 3]}. */
    void addTo(float[] rgb, int pixel) {
        rgb[3 * pixel] += (float) x;
        rgb[3 * pixel + 1] += (float) y;
        rgb[3 * pixel + 2] += (float) z;
    }

    private static double linear(int screen) {
        return Math.pow((screen & 0xFF) / 255.0, 2.2);
    }
}
