package dev.saccade.train;

import com.google.common.collect.ImmutableMap;

import java.util.Map;

/** Measures the model of a run; it is in inference mode then, and no gradients are recorded. */
@FunctionalInterface
public interface Evaluator {

    /**
     * What came of it.
     *
     * @param metrics metrics by name, the monitored one among them
     * @param pictures PNG files by name, maybe none
     */
    record Result(Map<String, Double> metrics, Map<String, byte[]> pictures) {

        /** Keeps copies of the maps. */
        public Result {
            metrics = ImmutableMap.copyOf(metrics);
            pictures = ImmutableMap.copyOf(pictures);
        }
    }

    /**
     * Measures.
     *
     * @param progress to be called now and then; throws when the run is asked to stop, which must
     *     be let through
     */
    Result evaluate(Runnable progress);
}
