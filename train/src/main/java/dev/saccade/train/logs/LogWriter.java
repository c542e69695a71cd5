package dev.saccade.train.logs;

import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.StepReport;

/** Writes the log of a run in one format. An exception ends the run. */
public interface LogWriter extends AutoCloseable {

    /** Writes a line of text, if the format supports it. */
    default void writeLine(String line) {}

    /** Writes the progress of several steps: counters of the last step, means of all. */
    void writeSteps(StepReport mean, MemoryUse memory);

    void writeEvaluation(EvaluationReport evaluation);

    @Override
    void close();
}
