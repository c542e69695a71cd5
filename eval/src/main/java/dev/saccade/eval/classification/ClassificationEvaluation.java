package dev.saccade.eval.classification;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.structures.ClassScores;
import dev.saccade.eval.Evaluation;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Predictions and metrics of classified images.
 *
 * @param truth class index of each image
 * @param scores probabilities of each image
 */
public record ClassificationEvaluation(
        List<String> classes, ImmutableIntArray truth, List<ClassScores> scores)
        implements Evaluation {

    private static final int TOP = 5;

    public ClassificationEvaluation {
        classes = ImmutableList.copyOf(classes);
        scores = ImmutableList.copyOf(scores);
    }

    /** Returns {@code top1}, {@code top5} (with more than 5 classes) and {@code ece}. */
    @Override
    public Map<String, Double> values() {
        ImmutableMap.Builder<String, Double> values = ImmutableMap.builder();
        values.put("top1", top(1));
        if (classes.size() > TOP) {
            values.put("top5", top(TOP));
        }
        return values.put("ece", calibrationError()).buildOrThrow();
    }

    /** Returns the fraction of images whose class is among the {@code count} highest scores. */
    public double top(int count) {
        return IntStream.range(0, scores.size())
                .mapToDouble(i -> scores.get(i).top(count).contains(truth.get(i)) ? 1 : 0)
                .average()
                .orElse(0);
    }

    /** Returns the expected calibration error of the predicted classes, in [0, 1]. */
    public double calibrationError() {
        double[] confidences = new double[scores.size()];
        boolean[] correct = new boolean[scores.size()];
        for (int i = 0; i < correct.length; i++) {
            int best = scores.get(i).best();
            confidences[i] = scores.get(i).score(best);
            correct[i] = best == truth.get(i);
        }
        return CalibrationError.of(confidences, correct);
    }

    public ImageConfusionMatrix confusion() {
        return ImageConfusionMatrix.of(
                classes, truth.toArray(), scores.stream().mapToInt(ClassScores::best).toArray());
    }
}
