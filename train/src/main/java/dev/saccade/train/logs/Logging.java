package dev.saccade.train.logs;

import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

/** Has a run written down: the mean of every so many steps, evaluations, and notes. */
public final class Logging implements Hook {

    private final LogWriter writer;
    private final int interval;
    private final StepMeter meter = new StepMeter();

    /**
     * Owns a writer from now on.
     *
     * @param interval optimizer steps between two lines
     */
    public Logging(LogWriter writer, int interval) {
        this.writer = writer;
        this.interval = interval;
    }

    @Override
    public void noted(String line) {
        writer.noted(line);
    }

    @Override
    public void afterStep(Run run, StepReport step) {
        meter.add(step);
        if (step.iteration() % interval == 0 || step.iteration() == step.iterations()) {
            writer.averaged(meter.mean(step), MemoryUse.now(run.manager()));
        }
    }

    @Override
    public void afterEvaluation(Run run, EvaluationReport evaluation) {
        writer.evaluated(evaluation);
    }

    @Override
    public void close() {
        writer.close();
    }
}
