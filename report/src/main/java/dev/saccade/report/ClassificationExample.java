package dev.saccade.report;

import dev.saccade.core.Text;

import java.util.stream.IntStream;

/**
 * A validation image (base64 JPEG) with its class and the predicted class.
 *
 * @param confidence probability of the predicted class
 */
public record ClassificationExample(
        String name, String image, String truth, String predicted, double confidence)
        implements Example {

    private boolean isCorrect() {
        return truth.equals(predicted);
    }

    @Override
    public double errors(double threshold) {
        return isCorrect() ? -confidence : 1 + confidence;
    }

    @Override
    public String summary(double threshold) {
        String best = Text.format("%s %.2f", predicted, confidence);
        return isCorrect() ? best : Text.format("%s, wrong: expected %s", best, truth);
    }

    @Override
    public IntStream legend() {
        return IntStream.empty();
    }

    @Override
    public void writeTruth(Markup out, Examples all, String id) {
        out.empty("img", "src", "data:image/jpeg;base64," + image, "alt", name);
    }

    /** Writes nothing: the summary has the predicted class. */
    @Override
    public void writePredictions(Markup out, Examples all, String id) {}
}
