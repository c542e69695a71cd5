package dev.saccade.checkpoint;

import static com.google.common.collect.ImmutableList.toImmutableList;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.Immutable;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * How another library's names for one family of models correspond to ours.
 *
 * <p>A row holds a {@link Template} of theirs and one of ours, and may end with a {@link
 * Reordering}; {@code -} in place of theirs is what they do not store. The first row that matches a
 * name, read in either direction, names it anew; a name that no row matches is the same in both.
 */
@Immutable
final class NameTable {

    private static final String NOTHING = "-";

    @Immutable
    private record Row(Template theirs, Template ours, Reordering reordering) {

        static Row parse(String line) {
            List<String> words = Splitter.on(' ').omitEmptyStrings().splitToList(line);
            return new Row(
                    new Template(words.get(0)),
                    new Template(words.get(1)),
                    words.size() == 2
                            ? Reordering.NONE
                            : Reordering.valueOf(words.get(2).toUpperCase(Locale.ROOT)));
        }
    }

    /**
     * A tensor and its name.
     *
     * @param name the name
     * @param tensor the tensor
     */
    record Named(String name, Tensor tensor) {}

    private final Template theirMark;
    private final ImmutableList<Template> ourMarks;
    private final ImmutableList<Row> rows;

    /**
     * Makes a table.
     *
     * @param theirMark a form that only names of theirs have
     * @param ourMarks forms that together only names of this family have with us
     * @param rows the rows, one a line
     */
    NameTable(String theirMark, List<String> ourMarks, String rows) {
        this.theirMark = new Template(theirMark);
        this.ourMarks = ourMarks.stream().map(Template::new).collect(toImmutableList());
        this.rows = rows.lines().map(Row::parse).collect(toImmutableList());
    }

    /** Returns whether names are theirs. */
    boolean isTheirs(Set<String> names) {
        return isAny(names, theirMark);
    }

    /** Returns whether names are ours, of this family. */
    boolean isOurs(Set<String> names) {
        return ourMarks.stream().allMatch(mark -> isAny(names, mark));
    }

    private static boolean isAny(Set<String> names, Template mark) {
        return names.stream().anyMatch(name -> mark.read(name).isPresent());
    }

    /** Returns a tensor of theirs as ours. */
    Named toOurs(String name, Tensor tensor) {
        for (Row row : rows) {
            Optional<Map<String, String>> places = row.theirs.read(name);
            if (places.isPresent()) {
                return new Named(row.ours.write(places.get()), row.reordering.toOurs(tensor));
            }
        }
        return new Named(name, tensor);
    }

    /** Returns a tensor of ours as theirs; nothing, if they do not store it. */
    Optional<Named> toTheirs(String name, Tensor tensor) {
        for (Row row : rows) {
            Optional<Map<String, String>> places = row.ours.read(name);
            if (places.isPresent()) {
                String theirs = row.theirs.write(places.get());
                return Optional.of(new Named(theirs, row.reordering.toTheirs(tensor)))
                        .filter(named -> !named.name.equals(NOTHING));
            }
        }
        return Optional.of(new Named(name, tensor));
    }
}
