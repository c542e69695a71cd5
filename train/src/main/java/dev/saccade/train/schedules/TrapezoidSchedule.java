package dev.saccade.train.schedules;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;

/**
 * Constant learning rate that decays to 0 at the end, with one minus the square root of the
 * progress (Hägele et al. 2024, also called warmup-stable-decay). The learning rate before the
 * decay does not depend on the length of the run, so a run can be continued or ended earlier.
 *
 * @param decay fraction of the steps in which the learning rate decays
 */
@Component("trapezoid")
public record TrapezoidSchedule(
        @Default("0.2") double decay, @Default("{iterations: 500}") Warmup warmup)
        implements Schedule {

    public TrapezoidSchedule {
        new Checks().above("decay", decay, 0, 1).throwIfAny();
    }

    /** Returns the number of steps before the decay. */
    public long decayStart(long iterations) {
        return iterations - Math.max(1, Math.round(decay * iterations));
    }

    @Override
    public double regular(double base, long iteration, RunLength length) {
        long start = decayStart(length.iterations());
        if (iteration < start) {
            return base;
        }
        double progress = (double) (iteration - start) / (length.iterations() - start);
        return base * (1 - Math.sqrt(Math.min(1, progress)));
    }
}
