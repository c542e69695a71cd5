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
 * Minimum scores of detections. Each evaluation during training computes the thresholds with the
 * highest F1, and checkpoints store them.
 *
 * @param perClass threshold by class name; other classes use {@code overall}
 */
public record ScoreThresholds(double overall, Map<String, Double> perClass) {

    /** Threshold 0.3, for checkpoints without thresholds, such as before the first evaluation. */
    public static final ScoreThresholds DEFAULT = of(0.3);

    private static final String KEY = "saccade.scores";

    public ScoreThresholds {
        perClass = ImmutableMap.copyOf(perClass);
        new Checks()
                .inRange("overall", overall, 0, 1)
                .each("per_class", List.copyOf(perClass.values()), 0, 1)
                .throwIfAny();
    }

    /** Returns thresholds with one score for all classes; throws if it is outside 0 to 1. */
    public static ScoreThresholds of(double score) {
        if (!(score >= 0 && score <= 1)) {
            throw SaccadeException.user("minimum score: got %s, expected 0 to 1", score);
        }
        return new ScoreThresholds(score, Map.of());
    }

    /** Returns a copy that applies the overall threshold to all classes. */
    public ScoreThresholds uniform() {
        return of(overall);
    }

    public double of(String label) {
        return perClass.getOrDefault(label, overall);
    }

    /** Returns the detections that reach the threshold of their class, in the same order. */
    public Instances select(Instances detections, List<String> classes) {
        return detections.select(
                IntStream.range(0, detections.size())
                        .filter(i -> detections.score(i) >= of(classes.get(detections.label(i))))
                        .toArray());
    }

    /** Returns these thresholds as a metadata entry for a checkpoint. */
    public Map<String, String> toMetadata() {
        return Map.of(KEY, ConfigWriter.yaml(Configs.unbind(this)));
    }

    /** Reads the thresholds from checkpoint metadata; {@code source} names the file in messages. */
    public static Optional<ScoreThresholds> find(Map<String, String> metadata, String source) {
        return Optional.ofNullable(metadata.get(KEY))
                .map(text -> ConfigFile.parse(text, source + ", score thresholds"))
                .map(entry -> Configs.bind(entry, ScoreThresholds.class));
    }
}
