package dev.saccade.report;

import java.util.Set;
import java.util.stream.IntStream;

/**
 * A validation image overlaid with ground truth and prediction (base64 JPEGs). {@code agreement} is
 * the mean IoU, or NaN without labeled pixels.
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
    public double errors(double threshold) {
        return Double.isNaN(agreement) ? -1e9 : -agreement;
    }

    @Override
    public String summary(double threshold) {
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
