package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Count;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Which photographs are for what, as lists and folders of a data set say. One that is listed for
 * several parts is taken for the first alone: what was learned cannot measure.
 */
final class Listing {

    private final Map<String, Optional<Part>> parts = new LinkedHashMap<>();
    private final Map<String, Integer> repeated = new LinkedHashMap<>();
    private final Map<String, String> first = new LinkedHashMap<>();

    /**
     * Adds a photograph.
     *
     * @param place the list that it stands in, for messages
     */
    void add(String photograph, Optional<Part> part, String place) {
        Optional<Part> other = parts.putIfAbsent(photograph, part);
        if (other != null) {
            String what =
                    other.equals(part)
                            ? "listed twice; they are taken once"
                            : "for %s too; they are taken for that alone"
                                    .formatted(other.map(Part::key).orElse("another part"));
            String message = place + "\n" + what;
            repeated.merge(message, 1, Integer::sum);
            first.putIfAbsent(message, photograph);
        }
    }

    /** Returns the photographs in the order in which they were added. */
    ImmutableMap<String, Optional<Part>> parts() {
        return ImmutableMap.copyOf(parts);
    }

    /** Says which photographs are listed more than once. */
    void tellRepeated(Reading reading) {
        repeated.forEach(
                (message, count) -> {
                    String[] placeAndWhat = message.split("\n", 2);
                    reading.warning(
                            placeAndWhat[0],
                            "%s here, such as %s, %s %s"
                                    .formatted(
                                            Count.of(count, "photograph"),
                                            first.get(message),
                                            count == 1 ? "is" : "are",
                                            placeAndWhat[1]));
                });
    }
}
