package dev.saccade.train.hooks;

import com.google.common.collect.ImmutableMap;

import java.util.Map;

/**
 * The result of an evaluation during a run.
 *
 * @param iteration optimizer steps taken before it
 * @param epoch epochs completed before it
 * @param metrics metrics by name
 * @param monitor the name of the metric by which the best checkpoint is told
 * @param pictures PNG files by name, maybe none
 * @param best whether the monitored metric is the best so far
 */
public record EvaluationReport(
        long iteration,
        int epoch,
        Map<String, Double> metrics,
        String monitor,
        Map<String, byte[]> pictures,
        boolean best) {

    /** Keeps copies of the maps. */
    public EvaluationReport {
        metrics = ImmutableMap.copyOf(metrics);
        pictures = ImmutableMap.copyOf(pictures);
    }
}
