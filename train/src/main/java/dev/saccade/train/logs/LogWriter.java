package dev.saccade.train.logs;

import dev.saccade.train.hooks.EvaluationReport;
import dev.saccade.train.hooks.StepReport;

/** Writes a run down in one format; what it throws ends the run. */
public interface LogWriter extends AutoCloseable {

    /**
     * Writes a fact worth a line, where the format has lines.
     *
     * @param line text without line end
     */
    default void writeLine(String line) {}

    /**
     * Writes what some steps were like.
     *
     * @param mean counters of the last step, means of all
     * @param memory what the process holds now
     */
    void writeSteps(StepReport mean, MemoryUse memory);

    /** Writes the result of an evaluation. */
    void writeEvaluation(EvaluationReport evaluation);

    @Override
    void close();
}
