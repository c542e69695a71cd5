package dev.saccade.train.logs;

import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Hooks;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import java.time.Clock;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Logs a run: the mean of every {@code interval} steps, evaluations, and lines of text. */
public final class Logging implements Hook {

    private final LogWriter writer;
    private final int interval;
    private final List<StepReport> steps = new ArrayList<>();

    /** Takes ownership of the writer. */
    public Logging(LogWriter writer, int interval) {
        this.writer = writer;
        this.interval = interval;
    }

    /** Opens the log files of a run; returns hooks that write them. */
    public static Hooks toFiles(RunFolder folder, long iteration, int interval) {
        Stream<LogWriter> writers =
                Stream.of(
                        new TextLog(folder.log(), Clock.system(ZoneId.systemDefault())),
                        new JsonLog(folder.metrics(), iteration),
                        new TensorBoardLog(folder.tensorBoard(), iteration, Clock.systemUTC()));
        return new Hooks(writers.map(log -> new Logging(log, interval)).toList());
    }

    @Override
    public void onLog(String line) {
        writer.writeLine(line);
    }

    @Override
    public void afterStep(Run run, StepReport step) {
        steps.add(step);
        if (step.iteration() % interval == 0 || step.iteration() == step.iterations()) {
            writer.writeSteps(StepReport.mean(steps), MemoryUse.now(run.manager()));
            steps.clear();
        }
    }

    @Override
    public void afterEvaluation(Run run, EvaluationReport evaluation) {
        writer.writeEvaluation(evaluation);
    }

    @Override
    public void close() {
        writer.close();
    }
}
