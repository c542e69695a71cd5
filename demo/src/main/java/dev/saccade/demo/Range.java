package dev.saccade.demo;

import java.util.SplittableRandom;

/**
 * An interval to draw a number from.
 *
 * @param low the smallest
 * @param high the largest
 */
record Range(double low, double high) {

    /** Returns a number in the interval, each equally likely. */
    double draw(SplittableRandom random) {
        return low + (high - low) * random.nextDouble();
    }

    /** Returns a number between two others. */
    static double draw(SplittableRandom random, double low, double high) {
        return low + (high - low) * random.nextDouble();
    }
}
