package dev.saccade.report;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;

import java.util.List;

/**
 * Counts of what was taken for what.
 *
 * @param title what is counted
 * @param names of the rows, from top to bottom, and of the columns, from left to right
 * @param counts by row and column
 * @param ofShares whether cells tell the share of their row in percent, not the count; those that
 *     are 0 % are empty
 */
public record HeatMap(String title, List<String> names, List<List<Long>> counts, boolean ofShares)
        implements Block {

    /** Copies the lists, and checks that there is a count for each pair of names. */
    public HeatMap {
        names = ImmutableList.copyOf(names);
        counts =
                counts.stream().map(ImmutableList::copyOf).collect(ImmutableList.toImmutableList());
        int size = names.size();
        checkArgument(
                counts.size() == size && counts.stream().allMatch(row -> row.size() == size),
                "%s names, counts %s",
                size,
                counts);
    }

    @Override
    public boolean isEmpty() {
        return names.isEmpty();
    }

    @Override
    public void write(Markup out) {
        HeatMapWriter.write(out, this);
    }
}
