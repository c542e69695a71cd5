package dev.saccade.datasets.classification;

import java.util.SplittableRandom;

/** The symmetric beta distribution, sampled as a ratio of gamma variates. */
final class BetaDistribution {

    private BetaDistribution() {}

    /** Below, samples are 0 or 1 in double precision, and the variates would overflow. */
    private static final double MIN_ALPHA = 1e-9;

    /** Returns a number in [0, 1] from Beta(alpha, alpha). */
    static double sample(double alpha, SplittableRandom random) {
        double limited = Math.max(MIN_ALPHA, alpha);
        double x = logGamma(limited, random);
        double y = logGamma(limited, random);
        return 1 / (1 + Math.exp(y - x));
    }

    /**
     * Returns the logarithm of a gamma variate (Marsaglia and Tsang 2000); for small alphas, the
     * variate itself could be 0.
     */
    private static double logGamma(double alpha, SplittableRandom random) {
        if (alpha < 1) {
            return logGamma(alpha + 1, random) + Math.log(1 - random.nextDouble()) / alpha;
        }
        double d = alpha - 1.0 / 3;
        double c = 1 / Math.sqrt(9 * d);
        while (true) {
            double x = random.nextGaussian();
            double v = Math.pow(1 + c * x, 3);
            double u = 1 - random.nextDouble();
            if (v > 0 && Math.log(u) < 0.5 * x * x + d - d * v + d * Math.log(v)) {
                return Math.log(d * v);
            }
        }
    }
}
