package dev.saccade.tune;

import java.util.Map;
import java.util.Optional;

/**
 * Result of a {@link TrainJob}.
 *
 * @param metrics metrics of the held-out images by name; empty after a failure
 * @param seconds wall time of the job; of the last attempt, if it was interrupted
 * @param secondsPerStep median time of an optimizer step
 * @param secondsPerImage time to evaluate an image
 * @param failure reason of a failure
 */
public record JobResult(
        String name,
        Map<String, Double> metrics,
        double seconds,
        double secondsPerStep,
        double secondsPerImage,
        Optional<String> failure) {

    static JobResult failed(String name, double seconds, String message) {
        return new JobResult(name, Map.of(), seconds, 0, 0, Optional.of(message));
    }
}
