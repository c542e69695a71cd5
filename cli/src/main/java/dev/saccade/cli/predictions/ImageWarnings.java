package dev.saccade.cli.predictions;

import com.fasterxml.jackson.databind.JsonNode;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.datasets.image.ImageSource;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Warnings about images that were read in part or completed; equal warnings become one line. */
public final class ImageWarnings {

    /**
     * Images with the same warning.
     *
     * @param first name of the first image
     * @param count number of images
     */
    private record Images(String first, long count) {}

    private final Map<String, Images> images = new LinkedHashMap<>();

    /** Returns the image; its warnings are added here when it is read. */
    public ImageSource of(ImageSource image) {
        return image.warnings(warning -> add(warning, image.name(), 1));
    }

    private void add(String warning, String first, long count) {
        images.merge(
                warning,
                new Images(first, count),
                (known, more) -> new Images(known.first, known.count + more.count));
    }

    /** Returns the content for {@link #addAll}, such as for another process. */
    Map<String, ?> content() {
        return images;
    }

    void addAll(JsonNode content) {
        content.properties()
                .forEach(
                        entry ->
                                add(
                                        entry.getKey(),
                                        entry.getValue().get("first").asText(),
                                        entry.getValue().get("count").asLong()));
    }

    /** Returns a line for each warning. */
    public List<String> lines() {
        return images.entrySet().stream()
                .map(
                        entry ->
                                Printable.format(
                                        "%s%s: %s",
                                        entry.getValue().first,
                                        more(entry.getValue().count - 1),
                                        entry.getKey()))
                .toList();
    }

    private static String more(long count) {
        return count == 0 ? "" : " and " + Count.of(count, "more image");
    }
}
