package dev.saccade.report;

import com.google.common.collect.ImmutableList;

import java.util.List;
import java.util.OptionalDouble;

/**
 * A table of numbers between 0 and 1, each with a bar of its length.
 *
 * @param heads the heads of all columns: the name, the note, and those of the numbers
 * @param rows from top to bottom
 * @param ofClasses whether the rows are the classes in the order of their labels, shown in the
 *     colors that they have in pictures
 */
public record ShareTable(List<String> heads, List<Row> rows, boolean ofClasses) implements Block {

    /** Copies the lists. */
    public ShareTable {
        heads = ImmutableList.copyOf(heads);
        rows = ImmutableList.copyOf(rows);
    }

    /** Makes a table of anything but classes. */
    public ShareTable(List<String> heads, List<Row> rows) {
        this(heads, rows, false);
    }

    @Override
    public boolean isEmpty() {
        return rows.isEmpty();
    }

    @Override
    public void write(Markup out) {
        ShareTableWriter.write(out, this);
    }

    /**
     * One line.
     *
     * @param name what it is about
     * @param note a few words more, or a count
     * @param shares the numbers; empty where there is nothing to measure one on
     */
    public record Row(String name, String note, List<OptionalDouble> shares) {

        /** Copies the list. */
        public Row {
            shares = ImmutableList.copyOf(shares);
        }
    }
}
