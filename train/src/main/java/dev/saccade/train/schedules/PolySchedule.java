package dev.saccade.train.schedules;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;

/** Polynomial decay per step: a power of the remaining fraction of the run; power 1 is linear. */
@Component("poly")
public record PolySchedule(
        @Default("1") double power,
        @Default("0") double minLearningRate,
        @Default("{iterations: 1500, ratio: 1e-6}") Warmup warmup)
        implements Schedule {

    public PolySchedule {
        new Checks()
                .above("power", power, 0, 100)
                .inRange("min_learning_rate", minLearningRate, 0, 1000)
                .throwIfAny();
    }

    @Override
    public double regular(double base, long iteration, RunLength length) {
        double remaining = 1 - (double) iteration / length.iterations();
        return (base - minLearningRate) * Math.pow(remaining, power) + minLearningRate;
    }
}
