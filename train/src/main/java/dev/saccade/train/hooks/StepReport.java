package dev.saccade.train.hooks;

import com.google.common.collect.ImmutableMap;

import java.time.Duration;
import java.util.Map;

/**
 * Progress of one optimizer step, or the mean of several.
 *
 * @param iteration optimizer steps taken, including this one
 * @param iterations optimizer steps of the whole run
 * @param epoch from 0
 * @param learningRate before parameter rules
 * @param loss sum of the loss terms
 * @param losses loss terms by name
 * @param metrics of the model and the hooks, such as {@code acc}, by name
 * @param gradientNorm norm of all gradients before clipping
 * @param seconds wall time, including waiting for data
 * @param dataSeconds time spent waiting for data
 * @param remaining estimated time to the end of the run
 */
public record StepReport(
        long iteration,
        long iterations,
        int epoch,
        double learningRate,
        double loss,
        Map<String, Double> losses,
        Map<String, Double> metrics,
        double gradientNorm,
        double seconds,
        double dataSeconds,
        Duration remaining) {

    /** Copies the maps. */
    public StepReport {
        losses = ImmutableMap.copyOf(losses);
        metrics = ImmutableMap.copyOf(metrics);
    }

    /** Returns the fraction of the time spent waiting for data. */
    public double dataFraction() {
        return seconds > 0 ? dataSeconds / seconds : 0;
    }
}
