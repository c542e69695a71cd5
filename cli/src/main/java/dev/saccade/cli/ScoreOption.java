package dev.saccade.cli;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.Detector;
import dev.saccade.models.ScoreThresholds;

import picocli.CommandLine.Option;

import java.util.Optional;

final class ScoreOption {

    private static final String PER_CLASS = "per-class";

    @Option(
            names = "--score",
            paramLabel = "S",
            description =
                    "Set the minimum score of detections from 0 to 1, or per-class for"
                            + " the recommended score of each class. Default: the recommended"
                            + " score of the checkpoint for all classes, else 0.3.")
    private Optional<String> score = Optional.empty();

    /** Rejects anything but a number from 0 to 1 or {@value #PER_CLASS}. */
    void require() {
        score.filter(text -> !text.equals(PER_CLASS)).ifPresent(ScoreOption::number);
    }

    private static double number(String text) {
        try {
            double number = Double.parseDouble(text);
            if (number >= 0 && number <= 1) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Rejected below.
        }
        throw SaccadeException.user(
                "--score %s: expected a number from 0 to 1, or %s", text, PER_CLASS);
    }

    boolean isPerClass() {
        return score.filter(text -> text.equals(PER_CLASS)).isPresent();
    }

    boolean isSet() {
        return score.isPresent();
    }

    ScoreThresholds thresholds(Detector detector) {
        ScoreThresholds recommended = detector.scoreThresholds();
        return score.map(
                        text ->
                                text.equals(PER_CLASS)
                                        ? recommended
                                        : ScoreThresholds.of(number(text)))
                .orElse(recommended.uniform());
    }
}
