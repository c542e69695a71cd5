package dev.saccade.tune;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Plan of a search. Everything after it is a function of the plan, not of timing.
 *
 * @param threads CPU threads of each job
 * @param length training time of a trial up to the last rung, in seconds or steps
 */
record TunePlan(int threads, long seed, Rungs rungs, double length, List<Trial> trials) {

    TunePlan {
        trials = List.copyOf(trials);
    }

    /**
     * A trial of the plan.
     *
     * @param values labels of the changed values by dimension
     * @param overrides settings of the base config to change, with schedule and length
     * @param steps number of optimizer steps at the end of each rung
     * @param secondsPerStep measured time; 0 if the budget is in steps
     * @param failure why the trial cannot run
     */
    record Trial(
            int number,
            Map<String, String> values,
            List<String> overrides,
            List<Long> steps,
            double secondsPerStep,
            Optional<String> failure) {

        Trial {
            overrides = List.copyOf(overrides);
            steps = List.copyOf(steps);
        }

        long lastSteps() {
            return steps.get(steps.size() - 1);
        }

        /** Returns the changed values as text. */
        String describe() {
            return values.isEmpty()
                    ? "base config"
                    : String.join(
                            ", ",
                            values.entrySet().stream()
                                    .map(each -> each.getKey() + " " + each.getValue())
                                    .toList());
        }
    }
}
