package dev.saccade.train.schedules;

import dev.saccade.core.Checks;

/**
 * Falls along half a cosine, step by step (Loshchilov and Hutter 2017, without restarts).
 *
 * @param minLearningRate where it ends
 * @param warmup how it rises in the beginning
 */
public record CosineSchedule(double minLearningRate, Warmup warmup) implements Schedule {

    /** Down to 0 after 500 steps of warm-up. */
    public CosineSchedule() {
        this(0, new Warmup(500, 0.001));
    }

    /** Checks the values. */
    public CosineSchedule {
        new Checks().within("min_learning_rate", minLearningRate, 0, 1000).throwIfAny();
    }

    @Override
    public String type() {
        return "cosine";
    }

    @Override
    public double regular(double base, long iteration, RunLength length) {
        double angle = Math.PI * iteration / length.iterations();
        return minLearningRate + (base - minLearningRate) * (Math.cos(angle) + 1) / 2;
    }
}
