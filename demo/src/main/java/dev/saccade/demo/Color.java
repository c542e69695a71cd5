package dev.saccade.demo;

import java.util.SplittableRandom;

/**
 * A color in linear light, 1 being white paper in full light; lamps and highlights go beyond it.
 *
 * @param red red
 * @param green green
 * @param blue blue
 */
record Color(double red, double green, double blue) {

    /** Returns the color that a screen shows for {@code 0xRRGGBB}. */
    static Color of(int rgb) {
        return new Color(linear(rgb >> 16), linear(rgb >> 8), linear(rgb));
    }

    /** Returns one of the colors. */
    static Color pick(SplittableRandom random, int... palette) {
        return of(palette[random.nextInt(palette.length)]);
    }

    /** Returns this color with {@code amount} of the other in it, 0 to 1. */
    Color mix(Color other, double amount) {
        double kept = 1 - amount;
        return new Color(
                kept * red + amount * other.red,
                kept * green + amount * other.green,
                kept * blue + amount * other.blue);
    }

    /** Returns this color in {@code factor} times the light. */
    Color times(double factor) {
        return new Color(factor * red, factor * green, factor * blue);
    }

    private static double linear(int screen) {
        return Math.pow((screen & 0xFF) / 255.0, 2.2);
    }
}
