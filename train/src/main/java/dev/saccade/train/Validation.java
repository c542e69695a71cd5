package dev.saccade.train;

import dev.saccade.core.TaskCancelledException;
import dev.saccade.eval.Evaluation;

/** Evaluates the model of a run. Called in inference mode, without gradients. */
@FunctionalInterface
public interface Validation {

    /**
     * Runs the evaluation.
     *
     * @param progress must be called regularly; throws {@link TaskCancelledException}, which must
     *     not be caught, if the run is asked to stop
     * @return metrics, including the monitored one; the same on all ranks
     */
    Evaluation run(Runnable progress);
}
