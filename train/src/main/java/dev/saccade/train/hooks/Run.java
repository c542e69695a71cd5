package dev.saccade.train.hooks;

import ai.djl.ndarray.NDManager;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.train.schedules.RunLength;

import java.nio.file.Path;

/** A training run as its hooks see it and act on it, in the training thread alone. */
public interface Run {

    /**
     * Returns what is learned. The values of its parameters may be changed between steps, in place
     * and without gradients: by {@code muli} and the like, or {@link MemoryFormat#copy}, below
     * {@link NoGrad}.
     */
    Module model();

    /** Returns the owner of the parameters, which outlives the hooks. */
    default NDManager manager() {
        return model().namedParameters().values().iterator().next().getArray().getManager();
    }

    /**
     * Returns the ranks that take the run together. Hooks act on each of them; what they ask for on
     * one is done on all, and what they write to files is for rank 0 to write.
     */
    ProcessGroup ranks();

    /** Returns the folder of the run, in which {@link #ranks rank} 0 alone writes. */
    Path folder();

    /** Returns how long the run lasts. */
    RunLength length();

    /** Returns the optimizer steps taken. */
    long iteration();

    /** Returns the epochs completed: before a step, the number of its epoch from 0. */
    default int epoch() {
        return length().epoch(iteration());
    }

    /**
     * Returns the learning rate of the step, before the rules for parameters; the last one's after
     * it.
     */
    double learningRate();

    /**
     * Changes the learning rate of one step, {@linkplain Hook#beforeStep before} it; the next has
     * that of the schedule again. Of several ranks that of rank 0 counts.
     *
     * @param rate at least 0, finite
     */
    void setLearningRate(double rate);

    /**
     * Adds a metric to the report of the step that is being taken, until {@link Hook#afterStep}, or
     * else of the next; the logs have the mean over the steps that have it, in rank 0.
     */
    void addMetric(String name, double value);

    /**
     * Asks for an evaluation after the step that is being taken, before the first if asked
     * {@linkplain Hook#beforeTrain at the beginning}.
     *
     * @throws SaccadeException of kind user, if the run has nothing to be measured on
     */
    void requestEvaluation();

    /** Asks for the state to be saved after the step that is being taken. */
    void requestCheckpoint();

    /**
     * Asks the run to end, as {@code STOPPED_EARLY}, after the step that is being taken, before the
     * first if asked {@linkplain Hook#beforeTrain at the beginning}; its end is evaluated, if there
     * is something to be measured on, and saved. Does nothing in the last step.
     *
     * @param reason told in the logs
     */
    void stop(String reason);

    /**
     * Tells all hooks, the logs among them, a fact worth a line.
     *
     * @param line text without line end
     */
    void log(String line);
}
