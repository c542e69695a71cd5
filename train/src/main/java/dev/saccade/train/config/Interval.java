package dev.saccade.train.config;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.train.schedules.RunLength;

import java.util.Optional;

/** Interval in epochs or, if {@code iterations} is set, in optimizer steps. */
public record Interval(@Default("1") int epochs, Optional<Long> iterations) {

    public Interval {
        new Checks()
                .inRange("epochs", epochs, 1, 1_000_000)
                .inRange("iterations", iterations, 1, 1e9)
                .throwIfAny();
    }

    public static Interval ofEpochs(int epochs) {
        return new Interval(epochs, Optional.empty());
    }

    public static Interval ofIterations(long steps) {
        return new Interval(1, Optional.of(steps));
    }

    /** Returns whether an interval ends after {@code iteration} steps. */
    public boolean isDue(long iteration, RunLength length) {
        return iteration % iterations.orElse(epochs * length.iterationsPerEpoch()) == 0;
    }
}
