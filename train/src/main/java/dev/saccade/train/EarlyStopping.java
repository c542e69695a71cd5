package dev.saccade.train;

import dev.saccade.core.Count;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Hooks;
import dev.saccade.train.hooks.Run;

import java.util.List;
import java.util.Optional;

/** Ends a run after {@code patience} evaluations in a row without a new best. */
final class EarlyStopping implements Hook {

    private final int patience;
    private int stale;

    private EarlyStopping(int patience, int stale) {
        this.patience = patience;
        this.stale = stale;
    }

    /** Returns the hook, if the config sets a patience. */
    static Hooks of(RunConfig config, int stale) {
        Optional<Integer> patience = config.evaluation().patience();
        List<Hook> hooks = patience.stream().<Hook>map(n -> new EarlyStopping(n, stale)).toList();
        return new Hooks(hooks);
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
