package dev.saccade.train.hooks;

/**
 * One optimizer step, or the mean of some.
 *
 * @param iteration optimizer steps taken, this one included
 * @param iterations optimizer steps of the whole run
 * @param epoch the epoch the step belongs to, from 0
 * @param learningRate the learning rate before the rules for parameters
 * @param logVars how learning goes
 * @param time how long it took
 */
public record StepReport(
        long iteration,
        long iterations,
        int epoch,
        double learningRate,
        LogVars logVars,
        StepTime time) {}
