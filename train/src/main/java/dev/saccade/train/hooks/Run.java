package dev.saccade.train.hooks;

import ai.djl.ndarray.NDManager;

import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.train.schedules.RunLength;

import java.nio.file.Path;

/** A training run, as seen and changed by its hooks. Use it in the training thread only. */
public interface Run {

    /**
     * Returns the model. Hooks may change its parameters between steps, in place and without
     * gradients: with {@code muli} or {@link MemoryFormat#copy} inside {@link NoGrad}.
     */
    Module model();

    /** Returns the manager of the parameters; it may be closed before {@link Hook#close}. */
    default NDManager manager() {
        return model().namedParameters().values().iterator().next().getArray().getManager();
    }

    /**
     * Returns the ranks. A request made on one rank, such as {@link #requestCheckpoint}, applies to
     * all ranks; only rank 0 should write files.
     */
    ProcessGroup ranks();

    Path folder();

    RunLength length();

    /** Returns the number of finished optimizer steps. */
    long iteration();

    /** Returns the number of finished epochs, which is also the index of the current epoch. */
    default int epoch() {
        return length().epoch(iteration());
    }

    /** Returns the learning rate of the current or last step, before factors per parameter. */
    double learningRate();

    /**
     * Changes the learning rate of the next step only; call it in {@link Hook#beforeStep}. Must be
     * finite and at least 0. The value of rank 0 applies to all ranks.
     */
    void setLearningRate(double rate);

    /**
     * Adds a metric to the report of the current step; after {@link Hook#afterStep}, to the report
     * of the next step. Logs show the mean over the steps with this metric, on rank 0.
     */
    void addMetric(String name, double value);

    /**
     * Requests an evaluation after the current step, or before the first step if called in {@link
     * Hook#beforeTrain}. Fails if the run has no validation set.
     */
    void requestEvaluation();

    /** Requests a checkpoint after the current step. */
    void requestCheckpoint();

    /**
     * Stops the run as {@code STOPPED_EARLY} after the current step, or before the first step if
     * called in {@link Hook#beforeTrain}. The final model is evaluated and saved. No effect in the
     * last step.
     *
     * @param reason written to the log
     */
    void stop(String reason);

    /** Writes a line to the log. Calls {@link Hook#onLog} of all hooks. */
    void log(String line);
}
