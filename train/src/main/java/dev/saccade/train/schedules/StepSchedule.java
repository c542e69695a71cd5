package dev.saccade.train.schedules;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;

import java.util.List;

/** Multiplies the learning rate by {@code gamma} at each milestone, an epoch counted from 0. */
@Component("step")
public record StepSchedule(
        @Default("[8, 11]") List<Integer> milestones,
        @Default("0.1") double gamma,
        @Default("{iterations: 500}") Warmup warmup)
        implements Schedule {

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
    public double regular(double base, long iteration, RunLength length) {
        int epoch = length.epoch(iteration);
        int drops = Math.toIntExact(milestones.stream().filter(m -> epoch >= m).count());
        return base * Math.pow(gamma, drops);
    }
}
