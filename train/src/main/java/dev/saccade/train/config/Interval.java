package dev.saccade.train.config;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.train.schedules.RunLength;

import java.util.Optional;

/**
 * How often something happens.
 *
 * @param epochs every so many epochs
 * @param iterations every so many optimizer steps; where given it counts instead of {@code epochs}
 */
public record Interval(@Default("1") int epochs, Optional<Long> iterations) {

    /** Checks the values. */
    public Interval {
        new Checks()
                .inRange("epochs", epochs, 1, 1_000_000)
                .inRange("iterations", iterations, 1, 1e9)
                .throwIfAny();
    }

    /** Returns whether it is time after so many optimizer steps. */
    public boolean isDue(long iteration, RunLength length) {
        return iteration % iterations.orElse(epochs * length.iterationsPerEpoch()) == 0;
    }
}
