package dev.saccade.train;

import dev.saccade.core.TaskMonitor;
import dev.saccade.core.TaskProgress;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/** Reports the steps of a run to a monitor, and keeps the last and the best evaluation. */
final class RunObserver implements Hook {

    private final TaskMonitor monitor;
    private volatile Optional<EvaluationReport> last = Optional.empty();
    private volatile Optional<EvaluationReport> best = Optional.empty();

    RunObserver(TaskMonitor monitor) {
        this.monitor = monitor;
    }

    Optional<EvaluationReport> last() {
        return last;
    }

    Optional<EvaluationReport> best() {
        return best;
    }

    @Override
    public void afterStep(Run run, StepReport step) {
        monitor.report(
                new TaskProgress(
                        "train",
                        step.iteration(),
                        step.iterations(),
                        "steps",
                        Optional.of(step.remaining()),
                        OptionalInt.of(step.epoch()),
                        OptionalDouble.of(step.loss())));
    }

    @Override
    public void afterEvaluation(Run run, EvaluationReport evaluation) {
        last = Optional.of(evaluation);
        best = evaluation.best() ? last : best;
    }
}
