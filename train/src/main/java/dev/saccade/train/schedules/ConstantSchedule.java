package dev.saccade.train.schedules;

import dev.saccade.core.components.Component;

/** Keeps the learning rate constant after warm-up. */
@Component("constant")
public record ConstantSchedule(Warmup warmup) implements Schedule {

    @Override
    public double regular(double base, long iteration, RunLength length) {
        return base;
    }
}
