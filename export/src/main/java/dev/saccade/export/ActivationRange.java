package dev.saccade.export;

/**
 * Numbers that 8 unsigned bits represent: {@code scale * (k - zeroPoint)} for k from 0 to 255.
 *
 * @param zeroPoint number that represents 0
 */
record ActivationRange(float scale, int zeroPoint) {

    static final int LARGEST = 255;

    /** Returns the range from {@code low}, at most 0, to {@code high}, at least 0. */
    static ActivationRange of(double low, double high) {
        // A map of zeros has no width.
        float scale = (float) Math.max((high - low) / LARGEST, Float.MIN_NORMAL);
        return new ActivationRange(scale, (int) Math.rint(-low / scale));
    }

    /** Returns the difference of a value from its nearest number. */
    double error(double value) {
        double steps = Math.rint(value / scale) + zeroPoint;
        return value - scale * (Math.max(0, Math.min(LARGEST, steps)) - zeroPoint);
    }
}
