package dev.saccade.train;

import dev.saccade.eval.Evaluation;
import dev.saccade.eval.EvaluationInterrupted;

/** Evaluates the model of a run. It is called in inference mode, without gradients. */
@FunctionalInterface
public interface Validation {

    /**
     * Runs the evaluation.
     *
     * @param progress call it regularly; if the run is asked to stop, it throws {@link
     *     EvaluationInterrupted}, which must not be caught
     * @return metrics, including the monitored one; the same on all ranks
     */
    Evaluation run(Runnable progress);
}
