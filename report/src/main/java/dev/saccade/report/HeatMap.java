package dev.saccade.report;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;

import java.util.List;

/**
 * A confusion matrix.
 *
 * @param title caption of the matrix
 * @param names class names, of both rows and columns
 * @param counts counts by ground truth (row) and prediction (column)
 * @param ofShares whether cells show the percentage of their row instead of the count; 0% is left
 *     empty
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
