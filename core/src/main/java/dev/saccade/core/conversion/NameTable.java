package dev.saccade.core.conversion;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.collect.ImmutableList.toImmutableList;

import ai.djl.ndarray.NDArray;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * How another library's names for one family of models correspond to ours.
 *
 * <p>A row holds a {@link NamePattern} of theirs and one of ours, and may end with the name of a
 * {@link Reordering}; {@code -} in place of theirs is what they do not store. The first row that
 * matches a name, read in either direction, names it anew; a name that no row matches is the same
 * in both.
 */
public final class NameTable {

    private static final NamePattern NOTHING = new NamePattern("-");

    private record Row(NamePattern theirs, NamePattern ours, Optional<Reordering> reordering) {

        static Row parse(String line, Map<String, Reordering> reorderings) {
            List<String> words = Splitter.on(' ').omitEmptyStrings().splitToList(line);
            boolean isReordered = words.size() == 3;
            checkArgument(
                    words.size() == 2 || (isReordered && reorderings.containsKey(words.get(2))),
                    "row of names \"%s\": expected theirs, ours and perhaps one of %s",
                    line,
                    reorderings.keySet());
            NamePattern theirs = new NamePattern(words.get(0));
            NamePattern ours = new NamePattern(words.get(1));
            checkArgument(
                    theirs.equals(NOTHING) || theirs.places().equals(ours.places()),
                    "row of names \"%s\": expected the same places on both sides",
                    line);
            return new Row(
                    theirs,
                    ours,
                    isReordered ? Optional.of(reorderings.get(words.get(2))) : Optional.empty());
        }
    }

    /**
     * What becomes of a tensor.
     *
     * @param name its new name
     * @param reorder moves its elements, if they are in another order
     */
    public record Renamed(String name, Optional<UnaryOperator<NDArray>> reorder) {

        /** A new name and nothing else. */
        Renamed(String name) {
            this(name, Optional.empty());
        }
    }

    private final String library;
    private final NamePattern theirMark;
    private final ImmutableList<NamePattern> ourMarks;
    private final ImmutableList<Row> rows;

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
        this.library = library;
        this.theirMark = new NamePattern(theirMark);
        this.ourMarks = ourMarks.stream().map(NamePattern::new).collect(toImmutableList());
        this.rows = rows.lines().map(row -> Row.parse(row, reorderings)).collect(toImmutableList());
    }

    /** Returns whose names they are, such as {@code timm}. */
    public String library() {
        return library;
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
                return new Renamed(
                        row.ours.write(places.get()), row.reordering.map(Reordering::toOurs));
            }
        }
        return new Renamed(name);
    }

    /** Returns what a tensor of ours is with them; nothing, if they do not store it. */
    public Optional<Renamed> toTheirs(String name) {
        for (Row row : rows) {
            Optional<Map<String, String>> places = row.ours.read(name);
            if (places.isPresent()) {
                return row.theirs.equals(NOTHING)
                        ? Optional.empty()
                        : Optional.of(
                                new Renamed(
                                        row.theirs.write(places.get()),
                                        row.reordering.map(Reordering::toTheirs)));
            }
        }
        return Optional.of(new Renamed(name));
    }
}
