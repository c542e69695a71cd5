package dev.saccade.train.hooks;

import dev.saccade.core.Count;

/** Ends a run after so many evaluations in a row without a new best. */
public final class EarlyStopping implements Hook {

    private final int patience;
    private int stale;

    /**
     * Counts on.
     *
     * @param patience evaluations without a new best that end the run
     * @param stale how many there have been since the best
     */
    public EarlyStopping(int patience, int stale) {
        this.patience = patience;
        this.stale = stale;
    }

    @Override
    public void beforeTrain(Run run) {
        stopIfStale(run);
    }

    @Override
    public void afterEvaluation(Run run, EvaluationReport evaluation) {
        stale = evaluation.best() ? 0 : stale + 1;
        stopIfStale(run);
    }

    private void stopIfStale(Run run) {
        if (stale >= patience) {
            run.stop(Count.of(stale, "evaluation") + " without a new best: stopping");
        }
    }
}
