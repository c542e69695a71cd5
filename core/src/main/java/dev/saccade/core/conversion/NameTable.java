package dev.saccade.core.conversion;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;

import com.google.common.base.Splitter;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Mapping between the parameter names of another library and ours, for one model family.
 *
 * <p>A row has their {@link NamePattern} and ours, optionally followed by the name of a {@link
 * Reordering}, or by {@code 2/3} if their tensor is the second of three that ours concatenates.
 * {@code -} as their pattern marks tensors that they do not store. The first matching row applies,
 * in both directions; names without a matching row stay the same.
 *
 * @param library name of the other library, such as {@code timm}
 * @param theirMarks patterns that occur together only in their names
 * @param ourMarks patterns that occur together only in our names of this family
 * @param classes classes of the library's published checkpoints; empty if unknown
 * @param note a line for users who load such checkpoints; may be empty
 */
public record NameTable(
        String library,
        List<NamePattern> theirMarks,
        List<NamePattern> ourMarks,
        List<Row> rows,
        List<String> classes,
        String note) {

    private static final NamePattern NOTHING = new NamePattern("-");

    record Row(
            NamePattern theirs,
            NamePattern ours,
            Optional<Reordering> reordering,
            Optional<Slice> slice) {

        static Row parse(String line, Map<String, Reordering> reorderings) {
            List<String> words = Splitter.on(' ').omitEmptyStrings().splitToList(line);
            String last = words.size() == 3 ? words.get(2) : "";
            boolean isSlice = last.matches("[1-9]/[1-9]");
            checkArgument(
                    words.size() == 2 || isSlice || reorderings.containsKey(last),
                    "name table row \"%s\": expected their name, our name and optionally a slice"
                            + " such as 2/3 or one of %s",
                    line,
                    reorderings.keySet());
            NamePattern theirs = new NamePattern(words.get(0));
            NamePattern ours = new NamePattern(words.get(1));
            checkArgument(
                    theirs.equals(NOTHING) || theirs.placeholders().equals(ours.placeholders()),
                    "name table row \"%s\": expected the same placeholders on both sides",
                    line);
            return new Row(
                    theirs,
                    ours,
                    Optional.ofNullable(reorderings.get(last)),
                    isSlice
                            ? Optional.of(new Slice(last.charAt(0) - '1', last.charAt(2) - '0'))
                            : Optional.empty());
        }

        Renamed toOurs(Map<String, String> places) {
            return new Renamed(ours.write(places), reordering.map(Reordering::toOurs), slice);
        }

        Renamed toTheirs(Map<String, String> places) {
            Optional<UnaryOperator<NDArray>> sliced = slice.map(each -> each::of);
            return new Renamed(
                    theirs.write(places),
                    sliced.or(() -> reordering.map(Reordering::toTheirs)),
                    Optional.empty());
        }
    }

    /** Part of a tensor split along its first axis. */
    public record Slice(int index, int count) {

        private NDArray of(NDArray whole) {
            return whole.split(count).get(index);
        }
    }

    /** New name of a tensor, its reordering, and the slice it fills in the tensor of that name. */
    public record Renamed(
            String name, Optional<UnaryOperator<NDArray>> reorder, Optional<Slice> slice) {

        Renamed(String name) {
            this(name, Optional.empty(), Optional.empty());
        }
    }

    /** Parses a table without reorderings. */
    public NameTable(String library, String theirMark, List<String> ourMarks, String rows) {
        this(library, theirMark, ourMarks, rows, Map.of());
    }

    /** Parses a table with one row per line; rows refer to reorderings by name. */
    public NameTable(
            String library,
            String theirMark,
            List<String> ourMarks,
            String rows,
            Map<String, Reordering> reorderings) {
        this(
                library,
                List.of(new NamePattern(theirMark)),
                ourMarks.stream().map(NamePattern::new).toList(),
                rows.lines().map(row -> Row.parse(row, reorderings)).toList(),
                List.of(),
                "");
    }

    /** Adds the class names of published checkpoints in row order of the class layers. */
    public NameTable withClasses(List<String> names) {
        return new NameTable(library, theirMarks, ourMarks, rows, List.copyOf(names), note);
    }

    /** Adds a line for users of the library's checkpoints, such as on their channel order. */
    public NameTable withNote(String line) {
        return new NameTable(library, theirMarks, ourMarks, rows, classes, line);
    }

    /** Restricts this table to checkpoints that also have a tensor of this pattern. */
    public NameTable withMark(String theirs) {
        List<NamePattern> marks = new ArrayList<>(theirMarks);
        marks.add(new NamePattern(theirs));
        return new NameTable(library, List.copyOf(marks), ourMarks, rows, classes, note);
    }

    /** Returns whether any of the other library's names differs from ours. */
    public boolean translates() {
        return !rows.isEmpty();
    }

    public boolean isTheirs(Set<String> names) {
        return theirMarks.stream().allMatch(mark -> isAny(names, mark));
    }

    /** Returns whether the names are our names of this model family. */
    public boolean isOurs(Set<String> names) {
        return ourMarks.stream().allMatch(mark -> isAny(names, mark));
    }

    private static boolean isAny(Set<String> names, NamePattern mark) {
        return names.stream().anyMatch(mark::matches);
    }

    public Renamed toOurs(String name) {
        for (Row row : rows) {
            Optional<Map<String, String>> places = row.theirs.read(name);
            if (places.isPresent()) {
                return row.toOurs(places.get());
            }
        }
        return new Renamed(name);
    }

    /** Returns the other library's tensors for our name: several if split, none if not stored. */
    public List<Renamed> toTheirs(String name) {
        List<Renamed> parts = new ArrayList<>();
        for (Row row : rows) {
            Optional<Map<String, String>> places = row.ours.read(name);
            if (places.isEmpty() || (row.slice.isEmpty() && !parts.isEmpty())) {
                continue;
            }
            if (row.theirs.equals(NOTHING)) {
                return List.of();
            }
            parts.add(row.toTheirs(places.get()));
            if (row.slice.isEmpty()) {
                return parts;
            }
        }
        return parts.isEmpty() ? List.of(new Renamed(name)) : parts;
    }
}
