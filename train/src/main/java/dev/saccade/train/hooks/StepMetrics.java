package dev.saccade.train.hooks;

import com.google.common.collect.ImmutableMap;

import java.util.Map;

/**
 * How learning goes in an optimizer step, or the mean of some.
 *
 * @param loss the sum of the loss terms
 * @param losses loss terms by name
 * @param figures what else the model and the hooks tell, such as {@code acc}, by name
 * @param gradientNorm norm of all gradients before clipping
 */
public record StepMetrics(
        double loss, Map<String, Double> losses, Map<String, Double> figures, double gradientNorm) {

    /** Keeps copies of the maps. */
    public StepMetrics {
        losses = ImmutableMap.copyOf(losses);
        figures = ImmutableMap.copyOf(figures);
    }
}
