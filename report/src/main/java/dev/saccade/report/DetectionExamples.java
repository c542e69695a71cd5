package dev.saccade.report;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;

import java.io.IOException;
import java.util.List;

/**
 * Pictures with labeled objects and those that were found, by one run or by several.
 *
 * @param pictures from top to bottom; of each, what every run has found in it
 * @param runs the names of the runs
 * @param classes the names of the labels
 * @param threshold score from which a prediction is shown at first, 0 to 1
 * @param all how many held-back pictures there are
 */
public record DetectionExamples(
        List<List<DetectionExample>> pictures,
        List<String> runs,
        List<String> classes,
        double threshold,
        int all)
        implements Examples {

    /** Copies the lists, and checks that each picture was shown to every run. */
    public DetectionExamples {
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
        DetectionExampleWriter.write(out, this);
    }
}
