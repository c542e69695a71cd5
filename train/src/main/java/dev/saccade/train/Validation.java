package dev.saccade.train;

import dev.saccade.eval.Evaluation;
import dev.saccade.eval.EvaluationInterrupted;

/** Measures the model of a run; it is in inference mode then, and no gradients are recorded. */
@FunctionalInterface
public interface Validation {

    /**
     * Measures.
     *
     * @param progress to be called now and then; throws {@link EvaluationInterrupted} when the run
     *     is asked to stop, which must be let through
     * @return the same on all ranks; the monitored metric is among its values
     */
    Evaluation run(Runnable progress);
}
