package dev.saccade.report;

import com.google.common.collect.ImmutableList;

import java.util.List;

/**
 * Pictures with labelled objects and those that were found.
 *
 * @param pictures from top to bottom
 * @param classes the names of the labels
 * @param threshold score from which a prediction is shown at first, 0 to 1
 */
public record ObjectExamples(List<ObjectExample> pictures, List<String> classes, double threshold)
        implements Examples {

    /** Copies the lists. */
    public ObjectExamples {
        pictures = ImmutableList.copyOf(pictures);
        classes = ImmutableList.copyOf(classes);
    }

    @Override
    public boolean isEmpty() {
        return pictures.isEmpty();
    }
}
