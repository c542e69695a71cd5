package dev.saccade.cli;

import dev.saccade.train.logs.EvaluationReport;
import dev.saccade.train.logs.StepReport;
import dev.saccade.train.logs.TrainListener;

import java.io.PrintWriter;
import java.util.Locale;

/** Shows a run on stderr: a bar with losses and remaining time, a line for each evaluation. */
final class TrainProgress implements TrainListener {

    private final PrintWriter err;
    private Progress bar;

    TrainProgress(PrintWriter err) {
        this.err = err;
    }

    @Override
    public void noted(String line) {
        pause();
        err.println(line);
        err.flush();
    }

    @Override
    public void stepped(StepReport step) {
        if (bar == null) {
            bar = new Progress("train", step.iterations(), " steps");
        }
        bar.to(step.iteration());
        bar.note(
                String.format(
                        Locale.ROOT,
                        "epoch %d loss %.3f data %.0f%%",
                        step.epoch() + 1,
                        step.loss(),
                        100 * step.dataShare()));
    }

    @Override
    public void evaluated(EvaluationReport evaluation) {
        pause();
        StringBuilder line = new StringBuilder("epoch ").append(evaluation.epoch()).append(':');
        for (String name : new String[] {"AP", "AP50", "AP75"}) {
            Double value = evaluation.metrics().get(name);
            if (value != null) {
                line.append(String.format(Locale.ROOT, "  %s %.3f", name, value));
            }
        }
        err.println(line.append(evaluation.best() ? "  (best so far)" : ""));
        err.flush();
    }

    /** Takes the bar away while something else is written; the next step brings it back. */
    private void pause() {
        if (bar != null) {
            bar.close();
            bar = null;
        }
    }

    @Override
    public void close() {
        pause();
    }
}
