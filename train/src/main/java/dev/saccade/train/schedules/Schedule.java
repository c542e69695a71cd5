package dev.saccade.train.schedules;

import dev.saccade.core.parts.PartConfig;

/**
 * The course of the learning rate over a run; the record that YAML configures is the schedule.
 *
 * <p>To bring one of your own, implement this with a record and list the record in a {@link
 * dev.saccade.core.parts.PartProvider}.
 */
public interface Schedule extends PartConfig {

    /** Returns how the learning rate rises in the beginning. */
    Warmup warmup();

    /**
     * Returns the learning rate without warm-up.
     *
     * @param base the learning rate of the optimizer
     * @param iteration optimizer steps taken before this one
     */
    double regular(double base, long iteration, RunLength length);

    /**
     * Returns the learning rate of a step, as mmcv computes it.
     *
     * @param base the learning rate of the optimizer
     * @param iteration optimizer steps taken before this one
     */
    default double learningRate(double base, long iteration, RunLength length) {
        return regular(base, iteration, length) * warmup().factor(iteration);
    }
}
