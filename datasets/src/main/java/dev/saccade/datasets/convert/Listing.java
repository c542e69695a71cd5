package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ListMultimap;
import com.google.common.collect.MultimapBuilder;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.Finding;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Which photographs are for what, as lists and folders of a data set say. One that is listed for
 * several parts is taken for the first alone: what was learned cannot measure.
 */
final class Listing {

    private static final Pattern BLANKS = Pattern.compile("\\s+");

    private final Map<String, Optional<Part>> parts = new LinkedHashMap<>();
    private final ListMultimap<Repetition, String> repeated =
            MultimapBuilder.linkedHashKeys().arrayListValues().build();

    /** What is said of photographs that stand in a list again. */
    private record Repetition(String place, String what) {}

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
                            : Text.format(
                                    "for %s too; they are taken for that alone",
                                    other.map(Part::key).orElse("another part"));
            repeated.put(new Repetition(place, what), photograph);
        }
    }

    /**
     * Adds what a list names, an id a line; VOC has more behind it, such as -1 for photographs
     * without a class.
     *
     * @param byId what is added for an id
     * @param ending of the files that ids are the names of, for messages
     */
    void read(
            Reading reading,
            String list,
            Optional<Part> part,
            Map<String, String> byId,
            String ending) {
        try {
            List<String> lines = TextFile.lines(reading.folder().path(list));
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i).strip();
                String id = byId.containsKey(line) ? line : BLANKS.split(line, 2)[0];
                if (byId.containsKey(id)) {
                    add(byId.get(id), part, reading.place(list));
                } else if (!id.isEmpty()) {
                    reading.error(
                            reading.place(list) + ":" + (i + 1), "there is no " + id + ending);
                }
            }
        } catch (SaccadeException e) {
            reading.report(Finding.error(reading.place(list), e));
        }
    }

    /** Returns the photographs in the order in which they were added. */
    ImmutableMap<String, Optional<Part>> parts() {
        return ImmutableMap.copyOf(parts);
    }

    /** Says which photographs are listed more than once. */
    void tellRepeated(Reading reading) {
        repeated.asMap()
                .forEach(
                        (repetition, photographs) ->
                                reading.warning(
                                        repetition.place,
                                        Text.format(
                                                "%s here, such as %s, %s %s",
                                                Count.of(photographs.size(), "photograph"),
                                                photographs.iterator().next(),
                                                photographs.size() == 1 ? "is" : "are",
                                                repetition.what)));
    }
}
