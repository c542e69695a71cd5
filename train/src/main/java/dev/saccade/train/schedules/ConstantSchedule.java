package dev.saccade.train.schedules;

/**
 * Keeps the learning rate.
 *
 * @param warmup how it rises in the beginning
 */
public record ConstantSchedule(Warmup warmup) implements Schedule {

    /** Without warm-up. */
    public ConstantSchedule() {
        this(new Warmup());
    }

    @Override
    public String type() {
        return "constant";
    }

    @Override
    public double regular(double base, long iteration, RunLength length) {
        return base;
    }
}
