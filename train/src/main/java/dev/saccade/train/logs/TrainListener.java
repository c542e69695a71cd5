package dev.saccade.train.logs;

/**
 * Hears of everything that happens in a run, in the training thread; what it throws ends the run.
 */
public interface TrainListener extends AutoCloseable {

    /**
     * Hears a fact worth a line, such as a scaled learning rate.
     *
     * @param line text without line end
     */
    default void noted(String line) {}

    /** Hears of every step. */
    default void stepped(StepReport step) {}

    /**
     * Hears of the steps since the last call of this method, every so many steps.
     *
     * @param mean counters of the last step, means of all
     * @param memory what the process holds now
     */
    default void averaged(StepReport mean, MemoryUse memory) {}

    /** Hears of an evaluation. */
    default void evaluated(EvaluationReport evaluation) {}

    @Override
    default void close() {}
}
