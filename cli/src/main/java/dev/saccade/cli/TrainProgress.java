package dev.saccade.cli;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.core.Text;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Shows a progress bar with the loss, and a line per evaluation. */
final class TrainProgress implements Hook {

    /** Metrics shown in addition to the monitored one. */
    private static final List<String> SHOWN =
            List.of("AP", "AP50", "AP75", "mask_AP", "mask_AP50", "mIoU", "mAcc", "aAcc");

    private Optional<Progress> bar = Optional.empty();

    @Override
    public void onLog(String line) {
        Progress.println(line);
    }

    @Override
    public void afterStep(Run run, StepReport step) {
        if (bar.isEmpty()) {
            long before = step.iteration() - 1;
            bar = Optional.of(new Progress("train", before, step.iterations(), " steps"));
        }
        bar.get().to(step.iteration());
        bar.get()
                .note(
                        Text.format(
                                "epoch %d loss %.3f, %.0f %% waiting for data",
                                step.epoch() + 1, step.loss(), 100 * step.dataFraction()));
    }

    @Override
    public void afterEvaluation(Run run, EvaluationReport evaluation) {
        StringBuilder line = new StringBuilder("step ").append(evaluation.iteration()).append(':');
        Stream.concat(Stream.of(evaluation.monitor()), SHOWN.stream())
                .distinct()
                .filter(evaluation.metrics()::containsKey)
                .forEach(
                        name ->
                                line.append(
                                        Text.format(
                                                "  %s %.3f",
                                                name, evaluation.metrics().get(name))));
        Progress.println(line.append(evaluation.best() ? "  (best so far)" : "").toString());
    }

    @Override
    public void close() {
        bar.ifPresent(Progress::close);
    }
}
