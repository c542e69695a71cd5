package dev.saccade.eval.bootstrap;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.SeededRandom;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * Paired bootstrap over images (Efron and Tibshirani 1993): models are compared on the same
 * resamples, which are a function of the seed.
 *
 * @param resamples number of samples, each with as many images as the data set, with replacement
 */
public record Bootstrap(int resamples, long seed) {

    private static final double TAIL = 0.025;

    /** Usual number of resamples of a 95 % interval. */
    public static final Bootstrap DEFAULT = new Bootstrap(1000, 0);

    /** A value with its 95 % percentile interval; NaN if undefined. */
    public record Interval(double value, double low, double high) {

        /** Returns whether the interval excludes 0 on the positive side. */
        public boolean isAboveZero() {
            return low > 0;
        }

        /** Returns whether the interval excludes 0. */
        public boolean isSignificant() {
            return low > 0 || high < 0;
        }
    }

    /** A metric of the data set and of each resample. */
    public record Samples(double value, ImmutableDoubleArray resampled) {

        public Interval interval() {
            return of(value, resampled.stream());
        }

        /** Returns the difference to the same metric of another model. */
        public Interval minus(Samples other) {
            return of(
                    value - other.value,
                    IntStream.range(0, resampled.length())
                            .mapToDouble(i -> resampled.get(i) - other.resampled.get(i)));
        }

        private static Interval of(double value, DoubleStream resampled) {
            double[] sorted = resampled.filter(x -> !Double.isNaN(x)).sorted().toArray();
            int last = sorted.length - 1;
            return last < 0
                    ? new Interval(value, Double.NaN, Double.NaN)
                    : new Interval(
                            value,
                            sorted[(int) Math.floor(TAIL * last)],
                            sorted[(int) Math.ceil((1 - TAIL) * last)]);
        }
    }

    /** Computes a metric of the data set and of all resamples. */
    public Samples sample(ResampledMetric metric) {
        int images = metric.images();
        checkArgument(images > 0, "cannot resample a data set without images");
        int[] once = new int[images];
        Arrays.fill(once, 1);
        double[] resampled = new double[resamples];
        for (int r = 0; r < resamples; r++) {
            resampled[r] = metric.value(counts(images, r));
        }
        return new Samples(metric.value(once), ImmutableDoubleArray.copyOf(resampled));
    }

    private int[] counts(int images, int resample) {
        SplittableRandom random = SeededRandom.of(seed, "bootstrap", resample);
        int[] counts = new int[images];
        for (int i = 0; i < images; i++) {
            counts[random.nextInt(images)]++;
        }
        return counts;
    }
}
