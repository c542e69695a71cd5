package dev.saccade.train.schedules;

import dev.saccade.core.components.ComponentConfig;

/**
 * Learning rate schedule. To add a custom schedule, implement this with a record and list it in a
 * {@link dev.saccade.core.components.ComponentProvider}.
 */
public interface Schedule extends ComponentConfig {

    Warmup warmup();

    /**
     * Returns the learning rate without warm-up, after {@code iteration} finished optimizer steps.
     */
    double regular(double base, long iteration, RunLength length);

    /** Returns the number of warm-up steps. */
    default long warmupSteps(RunLength length) {
        return warmup().iterations();
    }

    /** Returns the first learning rate of warm-up as a fraction of {@code base}. */
    default double warmupRatio(double base) {
        return warmup().ratio();
    }

    /**
     * Returns the schedule for a base learning rate that {@code reference_batch} multiplies by a
     * factor; unchanged by default.
     */
    default Schedule scaled(double factor) {
        return this;
    }

    /** Returns the {@link #regular} learning rate, scaled during warm-up, as in mmcv. */
    default double learningRate(double base, long iteration, RunLength length) {
        return regular(base, iteration, length) * warmup().factor(iteration);
    }
}
