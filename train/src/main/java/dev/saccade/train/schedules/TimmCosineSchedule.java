package dev.saccade.train.schedules;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;

/**
 * Linear warm-up and cosine decay per step, like timm's {@code CosineLRScheduler} with updates per
 * step, which trains Swin, DeiT and ConvNeXt.
 *
 * <p>Unlike {@link CosineSchedule}, warm-up starts at its own learning rate and ends at the base
 * learning rate; the decay then continues with the value of a cosine over the whole run.
 *
 * @param warmupLearningRate learning rate of the first step; like {@code min_learning_rate}, it is
 *     scaled with {@code reference_batch}, as in Swin's code (timm's {@code train.py} does not
 *     scale them)
 * @param cooldownEpochs last epochs of the run, which use the minimum learning rate; timm adds them
 *     to the epochs
 * @param warmupPrefix whether the cosine starts after warm-up, as in Swin V2; otherwise it starts
 *     with the run
 */
@Component("timm_cosine")
public record TimmCosineSchedule(
        @Default("20") int warmupEpochs,
        @Default("5e-7") double warmupLearningRate,
        @Default("5e-6") double minLearningRate,
        @Default("0") int cooldownEpochs,
        @Default("false") boolean warmupPrefix)
        implements Schedule {

    private static final Warmup NONE = new Warmup(0, 0);

    public TimmCosineSchedule {
        new Checks()
                .inRange("warmup_epochs", warmupEpochs, 0, 1_000_000)
                .inRange("warmup_learning_rate", warmupLearningRate, 0, 1000)
                .inRange("min_learning_rate", minLearningRate, 0, 1000)
                .inRange("cooldown_epochs", cooldownEpochs, 0, 1_000_000)
                .throwIfAny();
    }

    @Override
    public Warmup warmup() {
        return NONE;
    }

    @Override
    public long warmupSteps(RunLength length) {
        return warmupEpochs * length.iterationsPerEpoch();
    }

    @Override
    public double warmupRatio(double base) {
        return Math.min(1, warmupLearningRate / base);
    }

    @Override
    public TimmCosineSchedule scaled(double factor) {
        return new TimmCosineSchedule(
                warmupEpochs,
                warmupLearningRate * factor,
                minLearningRate * factor,
                cooldownEpochs,
                warmupPrefix);
    }

    @Override
    public double regular(double base, long iteration, RunLength length) {
        long warmup = warmupSteps(length);
        if (iteration < warmup) {
            return warmupLearningRate + iteration * (base - warmupLearningRate) / warmup;
        }
        long start = warmupPrefix ? warmup : 0;
        long end = length.iterations() - cooldownEpochs * length.iterationsPerEpoch();
        if (iteration >= end) {
            return minLearningRate;
        }
        double angle = Math.PI * (iteration - start) / (end - start);
        return minLearningRate + (base - minLearningRate) * (Math.cos(angle) + 1) / 2;
    }
}
