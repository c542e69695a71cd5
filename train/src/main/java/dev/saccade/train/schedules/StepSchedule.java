package dev.saccade.train.schedules;

import dev.saccade.core.Checks;

import java.util.List;

/**
 * Multiplies the learning rate at some epochs.
 *
 * @param milestones epochs, from 0, at whose beginning the learning rate drops, ascending
 * @param gamma what it is multiplied by each time
 * @param warmup how it rises in the beginning
 */
public record StepSchedule(List<Integer> milestones, double gamma, Warmup warmup)
        implements Schedule {

    /** The 1x schedule of detectors: 12 epochs with drops for the 9th and the 12th. */
    public StepSchedule() {
        this(List.of(8, 11), 0.1, new Warmup(500, 0.001));
    }

    /** Checks the values. */
    public StepSchedule {
        milestones = List.copyOf(milestones);
        new Checks()
                .size("milestones", milestones, 0, 1000)
                .each("milestones", milestones, 0, 1_000_000)
                .ascending("milestones", milestones)
                .above("gamma", gamma, 0, 10)
                .throwIfAny();
    }

    @Override
    public String type() {
        return "step";
    }

    @Override
    public double regular(double base, long iteration, RunLength length) {
        int epoch = length.epoch(iteration);
        int drops = Math.toIntExact(milestones.stream().filter(m -> epoch >= m).count());
        return base * Math.pow(gamma, drops);
    }
}
