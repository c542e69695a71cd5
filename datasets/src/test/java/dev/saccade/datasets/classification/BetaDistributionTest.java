package dev.saccade.datasets.classification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.SplittableRandom;
import java.util.stream.DoubleStream;

class BetaDistributionTest {

    private static final int COUNT = 200_000;

    private static double[] samples(double alpha) {
        SplittableRandom random = new SplittableRandom(1);
        return DoubleStream.generate(() -> BetaDistribution.sample(alpha, random))
                .limit(COUNT)
                .toArray();
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.2, 0.8, 1, 5})
    void hasTheMeanAndVarianceOfTheDistribution(double alpha) {
        double[] samples = samples(alpha);
        double mean = DoubleStream.of(samples).average().orElseThrow();
        double variance = DoubleStream.of(samples).map(x -> (x - mean) * (x - mean)).sum() / COUNT;
        double expected = 1 / (4 * (2 * alpha + 1));
        assertEquals(0.5, mean, 5 * Math.sqrt(expected / COUNT));
        assertEquals(expected, variance, 0.01 * expected);
    }

    @Test
    void isUniformForAlphaOne() {
        double[] samples = samples(1);
        for (double limit = 0.1; limit < 0.95; limit += 0.1) {
            double most = limit;
            double below = DoubleStream.of(samples).filter(x -> x < most).count();
            assertEquals(limit, below / COUNT, 0.005);
        }
    }

    @Test
    void staysInRangeForTinyAlphas() {
        SplittableRandom random = new SplittableRandom(2);
        for (int i = 0; i < 10_000; i++) {
            double sample = BetaDistribution.sample(1e-4, random);
            assertTrue(sample >= 0 && sample <= 1, "sample " + sample);
        }
    }

    @Test
    void tinyParametersSampleZeroOrOne() {
        SplittableRandom random = new SplittableRandom(3);
        int ones = 0;
        for (int i = 0; i < 1000; i++) {
            double sample = BetaDistribution.sample(Double.MIN_VALUE, random);
            assertTrue(sample == 0 || sample == 1, "got " + sample);
            ones += (int) sample;
        }
        assertEquals(500, ones, 80);
    }
}
