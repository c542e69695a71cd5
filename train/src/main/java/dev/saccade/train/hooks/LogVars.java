package dev.saccade.train.hooks;

import com.google.common.collect.ImmutableMap;

import java.util.Map;

/**
 * How learning goes in an optimizer step, or the mean of some, as mmdetection's {@code log_vars}.
 *
 * @param loss the sum of the loss terms
 * @param losses loss terms by name
 * @param metrics what else the model and the hooks tell, such as {@code acc}, by name
 * @param gradientNorm norm of all gradients before clipping
 */
public record LogVars(
        double loss, Map<String, Double> losses, Map<String, Double> metrics, double gradientNorm) {

    /** Keeps copies of the maps. */
    public LogVars {
        losses = ImmutableMap.copyOf(losses);
        metrics = ImmutableMap.copyOf(metrics);
    }
}
