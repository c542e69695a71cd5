package dev.saccade.cli.predictions;

import com.google.common.collect.ImmutableMap;

import java.util.List;
import java.util.Map;

/**
 * What was seen in a photograph or a frame.
 *
 * @param files what was written of it: {@code picture} and {@code labels}, where there are any, to
 *     their names from the folder on
 * @param found an entry for each thing seen
 */
public record Prediction(Map<String, String> files, List<?> found) {

    /**
     * Returns what the JSON says of it.
     *
     * @param place what it was seen in; comes first
     */
    Map<String, Object> entries(Map<String, Object> place) {
        return ImmutableMap.<String, Object>builder()
                .putAll(place)
                .putAll(files)
                .put("found", found)
                .buildOrThrow();
    }
}
