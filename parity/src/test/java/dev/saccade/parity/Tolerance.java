package dev.saccade.parity;

import dev.saccade.core.Text;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Tolerance of a comparison: {@code |a - b| <= absolute + ofMax * max|b| + relative * |b|}. */
record Tolerance(double absolute, double ofMax, double relative) {

    static final Tolerance EXACT = new Tolerance(0, 0, 0);

    private static final Pattern OF_MAX =
            Pattern.compile(
                    "atol\\s*=?\\s*([\\d.e-]+)\\s*\\*\\s*max_abs.*?rtol\\s*=?\\s*([\\d.e-]+)");

    static Tolerance absolute(double absolute) {
        return new Tolerance(absolute, 0, 0);
    }

    static Tolerance ofMax(double part) {
        return new Tolerance(0, part, part);
    }

    /**
     * Parses the tolerance of a case, such as {@code gradients: atol = 1e-3*max_abs(array), rtol =
     * 1e-3}.
     */
    static Tolerance parse(String words) {
        Matcher matcher = OF_MAX.matcher(words);
        if (!matcher.find()) {
            throw new IllegalArgumentException("no atol and rtol in: " + words);
        }
        return new Tolerance(
                0, Double.parseDouble(matcher.group(1)), Double.parseDouble(matcher.group(2)));
    }

    /**
     * Fails unless the values agree; names the worst element.
     *
     * @return largest deviation relative to the tolerance
     */
    double check(String name, NumpyArray expected, NumpyArray actual) {
        if (!Arrays.equals(expected.shape(), actual.shape())) {
            throw new AssertionError(
                    String.format(
                            Locale.ROOT,
                            "%s: shape %s, expected %s",
                            name,
                            Arrays.toString(actual.shape()),
                            Arrays.toString(expected.shape())));
        }
        double floor = absolute + ofMax * expected.maxAbs();
        double worst = 0;
        int where = -1;
        int beyond = 0;
        for (int i = 0; i < expected.size(); i++) {
            double wanted = expected.values()[i];
            double deviation = deviation(wanted, actual.values()[i], floor);
            if (!(deviation <= 1)) {
                beyond++;
            }
            if (!(deviation <= worst)) {
                worst = deviation;
                where = i;
            }
        }
        if (beyond > 0) {
            throw new AssertionError(
                    Text.format(
                            "%s: %d of %d numbers differ; worst at %s: %s, expected %s (allowed %.3g)",
                            name,
                            beyond,
                            expected.size(),
                            expected.position(where),
                            actual.values()[where],
                            expected.values()[where],
                            floor + relative * Math.abs(expected.values()[where])));
        }
        return worst;
    }

    private double deviation(double wanted, double got, double floor) {
        if (wanted == got || (Double.isNaN(wanted) && Double.isNaN(got))) {
            return 0;
        }
        double deviation = Math.abs(got - wanted) / (floor + relative * Math.abs(wanted));
        return Double.isNaN(deviation) ? Double.POSITIVE_INFINITY : deviation;
    }
}
