package dev.saccade.train.schedules;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;

/**
 * A linear rise of the learning rate in the first steps.
 *
 * @param iterations steps until the full learning rate; 0 for no warm-up
 * @param ratio share of the learning rate at step 0, in [0, 1]
 */
public record Warmup(@Default("0") long iterations, @Default("0.001") double ratio) {

    /** Checks the values. */
    public Warmup {
        new Checks()
                .inRange("iterations", iterations, 0, 1e9)
                .inRange("ratio", ratio, 0, 1)
                .throwIfAny();
    }

    /** Returns what the learning rate of a step is multiplied by. */
    double factor(long iteration) {
        return iteration < iterations ? 1 - (1 - (double) iteration / iterations) * (1 - ratio) : 1;
    }
}
