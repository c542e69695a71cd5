package dev.saccade.train.schedules;

import dev.saccade.core.Checks;

/**
 * Falls by a power of the remaining share of the run, step by step.
 *
 * @param power the power; 1 is a straight line
 * @param minLearningRate where it ends
 * @param warmup how it rises in the beginning
 */
public record PolySchedule(double power, double minLearningRate, Warmup warmup)
        implements Schedule {

    /** The schedule of UperNet with Swin: a straight line after 1500 steps of warm-up. */
    public PolySchedule() {
        this(1, 0, new Warmup(1500, 1e-6));
    }

    /** Checks the values. */
    public PolySchedule {
        new Checks()
                .above("power", power, 0, 100)
                .within("min_learning_rate", minLearningRate, 0, 1000)
                .throwIfAny();
    }

    @Override
    public String type() {
        return "poly";
    }

    @Override
    public double regular(double base, long iteration, RunLength length) {
        double remaining = 1 - (double) iteration / length.iterations();
        return (base - minLearningRate) * Math.pow(remaining, power) + minLearningRate;
    }
}
