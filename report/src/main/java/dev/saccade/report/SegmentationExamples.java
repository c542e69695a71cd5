package dev.saccade.report;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.common.io.ByteSource;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * Pictures under the colors of the classes of their pixels, by one run or by several.
 *
 * @param pictures from top to bottom; of each, what every run has predicted for it
 * @param runs the names of the runs
 * @param classes the names of the labels
 * @param all how many held-back pictures there are
 */
public record SegmentationExamples(
        List<List<Picture>> pictures, List<String> runs, List<String> classes, int all)
        implements Examples {

    /** Copies the lists, and checks that each picture was shown to every run. */
    public SegmentationExamples {
        pictures =
                pictures.stream()
                        .map(ImmutableList::copyOf)
                        .collect(ImmutableList.toImmutableList());
        runs = ImmutableList.copyOf(runs);
        classes = ImmutableList.copyOf(classes);
        int columns = runs.size();
        checkArgument(pictures.stream().allMatch(row -> row.size() == columns), "%s runs", columns);
    }

    @Override
    public int size() {
        return pictures.size();
    }

    @Override
    public void write(Markup out) throws IOException {
        SegmentationExampleWriter.write(out, this);
    }

    /**
     * A held-back picture.
     *
     * @param name such as the name of its file
     * @param truth the picture under the colors of its labels, encoded as JPEG
     * @param predicted likewise, of what was predicted
     * @param labels all that occur in either
     * @param agreement mean IoU of both, from 0 to 1; NaN if nothing is labeled
     * @param tally how well they agree, in a few words
     */
    public record Picture(
            String name,
            ByteSource truth,
            ByteSource predicted,
            Set<Integer> labels,
            double agreement,
            String tally) {

        /** Copies the set. */
        public Picture {
            labels = ImmutableSet.copyOf(labels);
        }
    }
}
