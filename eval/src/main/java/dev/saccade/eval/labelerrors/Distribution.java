package dev.saccade.eval.labelerrors;

import com.google.common.primitives.Doubles;

import java.util.Arrays;
import java.util.Collection;

/** Empirical distribution of a value, with a pseudo-count at each end. */
final class Distribution {

    private final double[] sorted;

    Distribution(Collection<Double> values) {
        sorted = Doubles.toArray(values);
        Arrays.sort(sorted);
    }

    /** Returns the fraction of values up to {@code value}; never 0 or 1. */
    double upTo(double value) {
        int low = 0;
        int high = sorted.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sorted[middle] <= value) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return (low + 1.0) / (sorted.length + 2.0);
    }
}
