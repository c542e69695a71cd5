package dev.saccade.models;

import com.google.common.collect.ImmutableMap;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Instances;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Minimum scores of detections.
 *
 * <p>Each evaluation during training computes the thresholds with the highest F1, and checkpoints
 * store them.
 *
 * @param overall threshold for all classes
 * @param perClass threshold of each class by name; other classes use {@code overall}
 */
public record ScoreThresholds(double overall, Map<String, Double> perClass) {

    /** Thresholds of a checkpoint that stores none, such as one that was never evaluated: 0.3. */
    public static final ScoreThresholds DEFAULT = of(0.3);

    private static final String KEY = "saccade.scores";

    /**
     * Copies the map.
     *
     * @throws IllegalArgumentException if a threshold is outside 0 to 1
     */
    public ScoreThresholds {
        perClass = ImmutableMap.copyOf(perClass);
        new Checks()
                .inRange("overall", overall, 0, 1)
                .each("per_class", List.copyOf(perClass.values()), 0, 1)
                .throwIfAny();
    }

    /**
     * Returns one threshold for all classes.
     *
     * @throws SaccadeException of kind user, if it is outside 0 to 1
     */
    public static ScoreThresholds of(double score) {
        if (!(score >= 0 && score <= 1)) {
            throw SaccadeException.user("minimum score: got %s, expected 0 to 1", score);
        }
        return new ScoreThresholds(score, Map.of());
    }

    /** Returns the overall threshold, without thresholds of classes. */
    public ScoreThresholds uniform() {
        return of(overall);
    }

    /** Returns the threshold of a class. */
    public double of(String label) {
        return perClass.getOrDefault(label, overall);
    }

    /**
     * Returns the detections that reach the threshold of their class, in order.
     *
     * @param classes class names by class index
     */
    public Instances select(Instances detections, List<String> classes) {
        return detections.select(
                IntStream.range(0, detections.size())
                        .filter(i -> detections.score(i) >= of(classes.get(detections.label(i))))
                        .toArray());
    }

    /** Returns the metadata entry of a checkpoint. */
    public Map<String, String> toMetadata() {
        return Map.of(KEY, ConfigWriter.yaml(Configs.unbind(this)));
    }

    /**
     * Reads the thresholds from the metadata of a checkpoint, if they are stored.
     *
     * @param source file name for messages
     * @throws SaccadeException of kind user, if the entry is invalid
     */
    public static Optional<ScoreThresholds> find(Map<String, String> metadata, String source) {
        return Optional.ofNullable(metadata.get(KEY))
                .map(text -> ConfigFile.parse(text, source + ", score thresholds"))
                .map(entry -> Configs.bind(entry, ScoreThresholds.class));
    }
}
