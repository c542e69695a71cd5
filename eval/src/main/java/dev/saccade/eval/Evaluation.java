package dev.saccade.eval;

import dev.saccade.models.ScoreThresholds;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Metrics of an {@link Evaluator}. */
@FunctionalInterface
public interface Evaluation {

    /** Returns the metrics by name, without undefined ones. */
    Map<String, Double> values();

    /**
     * Returns records of metrics for programs, such as {@code DetectionMetrics}; none by default.
     */
    default List<Record> records() {
        return List.of();
    }

    /** Returns PNG files for the logs by name; none by default. */
    default Map<String, byte[]> pictures() {
        return Map.of();
    }

    /** Returns the recommended minimum scores of detections; none by default. */
    default Optional<ScoreThresholds> scoreThresholds() {
        return Optional.empty();
    }
}
