package dev.saccade.train.schedules;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;

/** Cosine decay per step (Loshchilov and Hutter 2017, without restarts). */
@Component("cosine")
public record CosineSchedule(
        @Default("0") double minLearningRate, @Default("{iterations: 500}") Warmup warmup)
        implements Schedule {

    public CosineSchedule {
        new Checks().inRange("min_learning_rate", minLearningRate, 0, 1000).throwIfAny();
    }

    @Override
    public double regular(double base, long iteration, RunLength length) {
        double angle = Math.PI * iteration / length.iterations();
        return minLearningRate + (base - minLearningRate) * (Math.cos(angle) + 1) / 2;
    }
}
