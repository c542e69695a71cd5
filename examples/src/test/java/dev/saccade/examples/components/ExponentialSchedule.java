package dev.saccade.examples.components;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.train.schedules.RunLength;
import dev.saccade.train.schedules.Schedule;
import dev.saccade.train.schedules.Warmup;

/** Multiplies the learning rate after each epoch. */
@Component("exponential")
public record ExponentialSchedule(@Default("0.9") double gamma, Warmup warmup) implements Schedule {

    public ExponentialSchedule {
        new Checks().above("gamma", gamma, 0, 1).throwIfAny();
    }

    @Override
    public double regular(double base, long iteration, RunLength length) {
        return base * Math.pow(gamma, length.epoch(iteration));
    }
}
