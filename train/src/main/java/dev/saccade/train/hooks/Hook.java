package dev.saccade.train.hooks;

import dev.saccade.core.parts.PartConfig;

/**
 * Acts in a training run: hears what happens, and changes the course of the run through {@link
 * Run}.
 *
 * <p>All methods are called in the training thread and do nothing by default. Of several hooks,
 * those that a config names come first, in its order, then those that a program gives, in theirs;
 * the logs are last. What a hook throws ends the run, as a message that names the hook unless it is
 * a {@link dev.saccade.core.SaccadeException}; the last checkpoint stays as it was.
 */
public interface Hook extends AutoCloseable {

    /**
     * The settings of a hook that a config names under {@code hooks}, and what makes it.
     *
     * <p>To bring one of your own, implement this with a record and list the record in a {@link
     * dev.saccade.core.parts.PartProvider}.
     */
    interface Config extends PartConfig {

        /** Returns a hook for one run, never null. */
        Hook build();
    }

    /**
     * Returns what tells this hook from the others of a run, in messages and in checkpoints,
     * without a colon and always the same; the name of its class by default.
     */
    default String name() {
        return getClass().getName();
    }

    /** Called before the first step, also of a run that is resumed. */
    default void beforeTrain(Run run) {}

    /** Called when the run has ended well, or was interrupted; its last state is saved. */
    default void afterTrain(Run run) {}

    /** Called before the first step of an epoch; not again where a run is resumed within it. */
    default void beforeEpoch(Run run) {}

    /** Called after the last step of an epoch, before an evaluation that is due then. */
    default void afterEpoch(Run run) {}

    /** Called before each step; the learning rate is that of the schedule. */
    default void beforeStep(Run run) {}

    /**
     * Called after each step.
     *
     * @param step what it was like, with the metrics that hooks before this one have added
     */
    default void afterStep(Run run, StepReport step) {}

    /** Called before each evaluation. */
    default void beforeEvaluation(Run run) {}

    /** Called after each evaluation; the best weights are saved by then. */
    default void afterEvaluation(Run run, EvaluationReport evaluation) {}

    /**
     * Called in place of {@link #afterEvaluation} where an evaluation was interrupted: the state is
     * saved next, and the evaluation is repeated when the run is resumed.
     */
    default void evaluationInterrupted(Run run) {}

    /**
     * Hears a fact worth a line, such as a scaled learning rate.
     *
     * @param line text without line end
     */
    default void onLog(String line) {}

    /**
     * Puts in what a run that is resumed needs to go on as if it had not stopped. Called before
     * each save, and once after {@link #beforeTrain}, so that what cannot be saved is found before
     * the first step.
     */
    default void save(HookState state) {}

    /**
     * Takes back what {@link #save} has put in, before {@link #beforeTrain}; not called in a run
     * that begins, nor where nothing was put in.
     */
    default void restore(HookState state) {}

    /** Called once at the end of a run, however it ends. */
    @Override
    default void close() {}
}
