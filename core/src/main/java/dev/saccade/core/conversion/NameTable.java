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
 * How another library's names for one family of models correspond to ours.
 *
 * <p>A row holds a {@link NamePattern} of theirs and one of ours, and may end with the name of a
 * {@link Reordering}, or with a part such as {@code 2/3} if our tensor is the concatenation of
 * three of theirs; {@code -} in place of theirs is what they do not store. The first row that
 * matches a name, read in either direction, names it anew; a name that no row matches is the same
 * in both.
 *
 * @param library name of the other library, such as {@code timm}
 * @param theirMark a pattern that only their names match
 * @param ourMarks patterns that together only our names of this family match
 * @param classes classes of the library's published checkpoints; empty if unknown
 * @param note a line for users who load such checkpoints; may be empty
 */
public record NameTable(
        String library,
        NamePattern theirMark,
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
                    "row of names \"%s\": expected their name, our name and optionally a slice"
                            + " such as 2/3 or one of %s",
                    line,
                    reorderings.keySet());
            NamePattern theirs = new NamePattern(words.get(0));
            NamePattern ours = new NamePattern(words.get(1));
            checkArgument(
                    theirs.equals(NOTHING) || theirs.placeholders().equals(ours.placeholders()),
                    "row of names \"%s\": expected the same placeholders on both sides",
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

    /**
     * A part of a tensor along its first axis.
     *
     * @param index from 0
     * @param count number of parts, all of the same size
     */
    public record Slice(int index, int count) {

        private NDArray of(NDArray whole) {
            return whole.split(count).get(index);
        }
    }

    /**
     * What becomes of a tensor.
     *
     * @param name its new name
     * @param reorder moves its elements, if they are in another order
     * @param slice which part of the renamed tensor it is, if that joins several
     */
    public record Renamed(
            String name, Optional<UnaryOperator<NDArray>> reorder, Optional<Slice> slice) {

        /** A new name and nothing else. */
        Renamed(String name) {
            this(name, Optional.empty(), Optional.empty());
        }
    }

    /**
     * Makes a table of names alone.
     *
     * @param library whose names they are, as users write it, such as {@code timm}
     * @param theirMark a form that only names of theirs have
     * @param ourMarks forms that together only names of this family have with us
     * @param rows the rows, one a line
     */
    public NameTable(String library, String theirMark, List<String> ourMarks, String rows) {
        this(library, theirMark, ourMarks, rows, Map.of());
    }

    /**
     * Makes a table.
     *
     * @param library whose names they are, as users write it, such as {@code timm}
     * @param theirMark a form that only names of theirs have
     * @param ourMarks forms that together only names of this family have with us
     * @param rows the rows, one a line
     * @param reorderings by the names that rows end with
     */
    public NameTable(
            String library,
            String theirMark,
            List<String> ourMarks,
            String rows,
            Map<String, Reordering> reorderings) {
        this(
                library,
                new NamePattern(theirMark),
                ourMarks.stream().map(NamePattern::new).toList(),
                rows.lines().map(row -> Row.parse(row, reorderings)).toList(),
                List.of(),
                "");
    }

    /**
     * Adds the classes of the library's published checkpoints, which do not store class names.
     *
     * @param names in the order of the rows of the class layers
     */
    public NameTable withClasses(List<String> names) {
        return new NameTable(library, theirMark, ourMarks, rows, List.copyOf(names), note);
    }

    /** Adds a line for users who load such checkpoints, such as another order of color channels. */
    public NameTable withNote(String line) {
        return new NameTable(library, theirMark, ourMarks, rows, classes, line);
    }

    /** Returns whether any name differs from ours. */
    public boolean translates() {
        return !rows.isEmpty();
    }

    /** Returns whether names are theirs. */
    public boolean isTheirs(Set<String> names) {
        return isAny(names, theirMark);
    }

    /** Returns whether names are ours, of this family. */
    public boolean isOurs(Set<String> names) {
        return ourMarks.stream().allMatch(mark -> isAny(names, mark));
    }

    private static boolean isAny(Set<String> names, NamePattern mark) {
        return names.stream().anyMatch(mark::matches);
    }

    /** Returns what a tensor of theirs is with us. */
    public Renamed toOurs(String name) {
        for (Row row : rows) {
            Optional<Map<String, String>> places = row.theirs.read(name);
            if (places.isPresent()) {
                return row.toOurs(places.get());
            }
        }
        return new Renamed(name);
    }

    /** Returns what a tensor of ours is with them; several if they split it, none if not stored. */
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
