package dev.saccade.cli.predictions;

import com.google.common.collect.ImmutableMap;

import dev.saccade.models.PredictionJson;

import java.util.Map;

/**
 * Predictions for an image or a frame.
 *
 * @param files written files, relative to the output folder: {@code picture} and {@code labels}
 * @param content {@link PredictionJson}
 */
public record Prediction(Map<String, String> files, Map<String, Object> content) {

    /**
     * Returns the JSON entry.
     *
     * @param source image or frame; first in the entry
     */
    Map<String, Object> entry(Map<String, Object> source) {
        return ImmutableMap.<String, Object>builder()
                .putAll(source)
                .putAll(files)
                .putAll(content)
                .buildOrThrow();
    }
}
