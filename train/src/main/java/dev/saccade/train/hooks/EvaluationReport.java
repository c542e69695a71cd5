package dev.saccade.train.hooks;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Result of an evaluation during a run.
 *
 * @param iteration number of finished optimizer steps
 * @param epoch number of finished epochs
 * @param monitor metric that selects the best checkpoint
 * @param pictures PNG files by name
 * @param records metrics as records, on rank 0; see {@link #find}
 */
public record EvaluationReport(
        long iteration,
        int epoch,
        Map<String, Double> metrics,
        String monitor,
        Map<String, byte[]> pictures,
        boolean best,
        List<Record> records) {

    public EvaluationReport {
        metrics = ImmutableMap.copyOf(metrics);
        pictures = ImmutableMap.copyOf(pictures);
        records = ImmutableList.copyOf(records);
    }

    /**
     * Returns the metrics of an evaluator, such as {@code find(DetectionMetrics.class)}; empty if
     * the run has no such evaluator.
     */
    public <T extends Record> Optional<T> find(Class<T> type) {
        return records.stream().filter(type::isInstance).map(type::cast).findFirst();
    }
}
