package dev.saccade.train.schedules;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;

/**
 * Linear warm-up of the learning rate, from {@code ratio} times the regular rate; {@code ratio} is
 * in [0, 1]. 0 iterations for no warm-up.
 */
public record Warmup(@Default("0") long iterations, @Default("0.001") double ratio) {

    public Warmup {
        new Checks()
                .inRange("iterations", iterations, 0, 1e9)
                .inRange("ratio", ratio, 0, 1)
                .throwIfAny();
    }

    /** Returns the learning rate factor after {@code iteration} finished steps. */
    double factor(long iteration) {
        return iteration < iterations ? 1 - (1 - (double) iteration / iterations) * (1 - ratio) : 1;
    }
}
