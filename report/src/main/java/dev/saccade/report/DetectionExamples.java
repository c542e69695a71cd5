package dev.saccade.report;

import com.google.common.collect.ImmutableList;

import java.io.IOException;
import java.util.List;

/**
 * Pictures with labeled objects and those that were found.
 *
 * @param pictures from top to bottom
 * @param classes the names of the labels
 * @param threshold score from which a prediction is shown at first, 0 to 1
 */
public record DetectionExamples(
        List<DetectionExample> pictures, List<String> classes, double threshold)
        implements Examples {

    /** Copies the lists. */
    public DetectionExamples {
        pictures = ImmutableList.copyOf(pictures);
        classes = ImmutableList.copyOf(classes);
    }

    @Override
    public boolean isEmpty() {
        return pictures.isEmpty();
    }

    @Override
    public void write(Markup out) throws IOException {
        DetectionExampleWriter.write(out, this);
    }
}
