package dev.saccade.train.logs;

import com.google.common.collect.ImmutableMap;

import java.time.Duration;
import java.util.Map;

/**
 * One optimiser step, or the mean of some.
 *
 * @param iteration optimiser steps taken, this one included
 * @param iterations optimiser steps of the whole run
 * @param epoch the epoch the step belongs to, from 0
 * @param learningRate the learning rate before the rules for parameters
 * @param losses loss terms by name
 * @param loss their sum
 * @param figures what else the model tells of how it learns, such as {@code acc}, by name
 * @param gradientNorm norm of all gradients before clipping
 * @param seconds wall time of the step, waiting for data included
 * @param dataSeconds the part of it that was spent waiting for data
 * @param remaining estimated time to the end of the run
 */
public record StepReport(
        long iteration,
        long iterations,
        int epoch,
        double learningRate,
        Map<String, Double> losses,
        double loss,
        Map<String, Double> figures,
        double gradientNorm,
        double seconds,
        double dataSeconds,
        Duration remaining) {

    /** Keeps copies of the maps. */
    public StepReport {
        losses = ImmutableMap.copyOf(losses);
        figures = ImmutableMap.copyOf(figures);
    }

    /** Returns the share of the time that was spent waiting for data, in [0, 1]. */
    public double dataShare() {
        return seconds > 0 ? dataSeconds / seconds : 0;
    }
}
