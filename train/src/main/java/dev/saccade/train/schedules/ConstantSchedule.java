package dev.saccade.train.schedules;

import dev.saccade.core.parts.Part;

/** Keeps the learning rate after warm-up. */
@Part("constant")
public record ConstantSchedule(Warmup warmup) implements Schedule {

    @Override
    public double regular(double base, long iteration, RunLength length) {
        return base;
    }
}
