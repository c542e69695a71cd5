package dev.saccade.train.hooks;

import dev.saccade.core.components.ComponentConfig;

/**
 * Observes a training run, and changes it through {@link Run}.
 *
 * <p>Methods run in the training thread and do nothing by default. Hooks of the config are called
 * first, then hooks of the program, then the logs. An exception ends the run and keeps the last
 * checkpoint. The message names the hook, except for a {@link dev.saccade.core.SaccadeException}.
 */
public interface Hook extends AutoCloseable {

    /**
     * Settings of a hook in the {@code hooks} of a config. To add a custom hook, implement this
     * with a record and list it in a {@link dev.saccade.core.components.ComponentProvider}.
     */
    interface Config extends ComponentConfig {

        /** Creates the hook for one run. */
        Hook build();
    }

    /** Returns a unique, constant name without a colon, for messages and checkpoints. */
    default String name() {
        return getClass().getName();
    }

    /** Called before the first step of a new or resumed run. */
    default void beforeTrain(Run run) {}

    /** Called after the last step or an interruption. The last state is already saved. */
    default void afterTrain(Run run) {}

    /** Called before the first step of an epoch, but not when resuming within an epoch. */
    default void beforeEpoch(Run run) {}

    /** Called after the last step of an epoch, before its evaluation. */
    default void afterEpoch(Run run) {}

    /** Called before each step, after the schedule has set the learning rate. */
    default void beforeStep(Run run) {}

    /** Called after each step. The report includes metrics added by previous hooks. */
    default void afterStep(Run run, StepReport step) {}

    default void beforeEvaluation(Run run) {}

    /** Called after each evaluation. The best weights are already saved. */
    default void afterEvaluation(Run run, EvaluationReport evaluation) {}

    /** Called instead of {@link #afterEvaluation} if interrupted. A resumed run evaluates again. */
    default void evaluationInterrupted(Run run) {}

    /** Called for each line of the log, such as a warning. */
    default void onLog(String line) {}

    /**
     * Stores the state that a resumed run needs. Called on rank 0 for each saved state, and on all
     * ranks once after {@code beforeTrain} to find errors before the first step.
     */
    default void save(HookState state) {}

    /** Restores the state that {@link #save} stored, if any. Called before {@link #beforeTrain}. */
    default void restore(HookState state) {}

    /** Called once at the end of a run, also after an error. */
    @Override
    default void close() {}
}
