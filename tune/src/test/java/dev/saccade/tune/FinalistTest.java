package dev.saccade.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.eval.bootstrap.Bootstrap.Samples;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

class FinalistTest {

    /** A trial whose metric is {@code score} on average, with the same noise as other trials. */
    private static Finalist trial(int number, double score, double noise, double seconds) {
        TunePlan.Trial trial =
                new TunePlan.Trial(
                        number, Map.of(), List.of(), List.of(10L), seconds, Optional.empty());
        return new Finalist(
                trial,
                new Samples(
                        score,
                        ImmutableDoubleArray.copyOf(
                                IntStream.range(0, 100)
                                        .mapToDouble(
                                                i -> score + noise * Math.sin(i * (number + 1))))));
    }

    private static int selected(Finalist... finalists) {
        return Finalist.select(List.of(finalists)).trial().number();
    }

    @Test
    void keepsTheBaseConfigWithoutASignificantGain() {
        assertEquals(0, selected(trial(0, 0.5, 0.1, 1), trial(1, 0.55, 0.1, 1)));
        assertEquals(0, selected(trial(0, 0.5, 0, 1), trial(1, 0.4, 0, 1)));
    }

    @Test
    void selectsTheBestSignificantTrial() {
        assertEquals(2, selected(trial(0, 0.5, 0, 1), trial(1, 0.6, 0, 1), trial(2, 0.7, 0, 9)));
    }

    @Test
    void prefersTheFasterOfTwoEqualTrials() {
        assertEquals(
                1,
                selected(trial(0, 0.3, 0.01, 1), trial(1, 0.69, 0.02, 1), trial(2, 0.7, 0.02, 9)));
        assertEquals(
                2,
                selected(trial(0, 0.3, 0.01, 1), trial(1, 0.69, 0.02, 1), trial(2, 0.7, 0.02, 1)));
    }

    @Test
    void selectsTheBestIfTheBaseConfigFailed() {
        assertEquals(3, selected(trial(1, 0.1, 0, 1), trial(3, 0.2, 0, 1)));
    }
}
