package dev.saccade.report;

import java.util.Set;
import java.util.stream.IntStream;

/**
 * A validation image with the colors of its classes.
 *
 * @param name of the image
 * @param truth base64 of the JPEG of the image and its ground truth
 * @param predicted base64 of the JPEG of the image and its prediction
 * @param labels all that occur in either
 * @param agreement mean IoU of both, from 0 to 1; NaN without labeled pixels
 * @param tally summary of the errors
 */
public record SegmentationExample(
        String name,
        String truth,
        String predicted,
        Set<Integer> labels,
        double agreement,
        String tally)
        implements Example {

    @Override
    public double mistakes(double threshold) {
        return Double.isNaN(agreement) ? -1e9 : -agreement;
    }

    @Override
    public String tally(double threshold) {
        return tally;
    }

    @Override
    public IntStream legend() {
        return labels.stream().mapToInt(Integer::intValue);
    }

    @Override
    public void writeTruth(Markup out, Examples all, String id) {
        write(out, truth, "Ground truth of " + name);
    }

    @Override
    public void writePredictions(Markup out, Examples all, String id) {
        write(out, predicted, "Prediction for " + name);
    }

    private static void write(Markup out, String jpeg, String description) {
        out.empty("img", "src", "data:image/jpeg;base64," + jpeg, "alt", description);
    }
}
