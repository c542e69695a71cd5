package dev.saccade.eval.classification;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.eval.Evaluation;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Predictions and metrics of classified images.
 *
 * @param truth class index of each image
 * @param predictions best classes of each image
 */
public record ClassificationEvaluation(
        List<String> classes, ImmutableIntArray truth, List<TopClasses> predictions)
        implements Evaluation {

    public ClassificationEvaluation {
        classes = ImmutableList.copyOf(classes);
        predictions = ImmutableList.copyOf(predictions);
    }

    /** Returns {@code top1}, {@code top5} (with more than 5 classes) and {@code ece}. */
    @Override
    public Map<String, Double> values() {
        ImmutableMap.Builder<String, Double> values = ImmutableMap.builder();
        values.put("top1", top(1));
        if (classes.size() > TopClasses.COUNT) {
            values.put("top5", top(TopClasses.COUNT));
        }
        return values.put("ece", calibrationError()).buildOrThrow();
    }

    /** Returns the metrics as a record. */
    public ClassificationMetrics metrics() {
        return new ClassificationMetrics(
                top(1), top(TopClasses.COUNT), calibrationError(), confusion().perClass());
    }

    @Override
    public List<Record> records() {
        return List.of(metrics());
    }

    private double top(int count) {
        return IntStream.range(0, predictions.size())
                .mapToDouble(i -> predictions.get(i).contains(truth.get(i), count) ? 1 : 0)
                .average()
                .orElse(0);
    }

    /** Returns the expected calibration error of the predicted classes, in [0, 1]. */
    public double calibrationError() {
        double[] confidences = new double[predictions.size()];
        boolean[] correct = new boolean[predictions.size()];
        for (int i = 0; i < correct.length; i++) {
            confidences[i] = predictions.get(i).confidence();
            correct[i] = predictions.get(i).best() == truth.get(i);
        }
        return CalibrationError.of(confidences, correct);
    }

    public ImageConfusionMatrix confusion() {
        return ImageConfusionMatrix.of(
                classes,
                truth.toArray(),
                predictions.stream().mapToInt(TopClasses::best).toArray());
    }
}
