package dev.saccade.train.hooks;

import com.google.common.collect.ImmutableMap;

import java.util.Map;

/**
 * Result of an evaluation during a run.
 *
 * @param iteration number of finished optimizer steps
 * @param epoch number of finished epochs
 * @param monitor metric that selects the best checkpoint
 * @param pictures PNG files by name
 */
public record EvaluationReport(
        long iteration,
        int epoch,
        Map<String, Double> metrics,
        String monitor,
        Map<String, byte[]> pictures,
        boolean best) {

    public EvaluationReport {
        metrics = ImmutableMap.copyOf(metrics);
        pictures = ImmutableMap.copyOf(pictures);
    }
}
