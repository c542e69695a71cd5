package dev.saccade.eval;

import java.util.Map;

/** What an {@link Evaluator} has measured. */
@FunctionalInterface
public interface Evaluation {

    /** Returns the metrics by name; those that are not defined are left out. */
    Map<String, Double> values();

    /** Returns PNG files for the logs by name; none by default. */
    default Map<String, byte[]> pictures() {
        return Map.of();
    }
}
