package dev.saccade.eval.detection;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.Evaluation;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.ImageIndex;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.tide.ErrorBreakdown;
import dev.saccade.models.ScoreThresholds;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Detection results of a data set and of each image.
 *
 * @param predictions detections by image index, in descending order of score
 * @param metrics metrics of boxes and, if evaluated, of masks
 */
public record DetectionEvaluation(
        List<Instances> predictions,
        GroundTruth groundTruth,
        CocoDetections detections,
        List<CocoMetrics> metrics)
        implements Evaluation {

    public DetectionEvaluation {
        predictions = ImmutableList.copyOf(predictions);
        metrics = ImmutableList.copyOf(metrics);
    }

    /**
     * Evaluates boxes and, if {@code masks}, also masks of detections, for example from {@link
     * CocoResults#read}.
     *
     * @throws SaccadeException of kind user, if the data set has no classes, or if a detection has
     *     an unknown image or class, or lacks a mask
     */
    public static DetectionEvaluation compute(
            Dataset dataset,
            CocoDetections detections,
            DetectionEvaluator.Config config,
            boolean masks,
            int threads) {
        List<CocoParameters> parameters = config.parameters(masks);
        GroundTruth groundTruth = GroundTruth.collect(dataset, masks ? IouType.MASK : IouType.BOX);
        return compute(groundTruth, detections, parameters, threads);
    }

    static DetectionEvaluation compute(
            GroundTruth groundTruth,
            CocoDetections detections,
            List<CocoParameters> parameters,
            int threads) {
        List<CocoMetrics> metrics =
                parameters.stream()
                        .map(p -> CocoMetrics.compute(groundTruth, detections, p, threads))
                        .toList();
        ImageIndex byImage = new ImageIndex(groundTruth, detections);
        List<Instances> predictions =
                IntStream.range(0, byImage.size())
                        .mapToObj(image -> detections.instances(byImage.detections(image)))
                        .toList();
        return new DetectionEvaluation(predictions, groundTruth, detections, metrics);
    }

    public CocoMetrics boxes() {
        return metrics.get(0);
    }

    /** Returns the metrics as records. */
    public DetectionMetrics averages() {
        return new DetectionMetrics(
                boxes().averages(),
                metrics.stream().skip(1).findFirst().map(CocoMetrics::averages));
    }

    @Override
    public List<Record> records() {
        return List.of(averages());
    }

    /** Returns all metrics by name, such as {@code AP50} of boxes and {@code mask_AP50}. */
    @Override
    public Map<String, Double> values() {
        ImmutableMap.Builder<String, Double> values = ImmutableMap.builder();
        metrics.forEach(result -> values.putAll(result.values()));
        return values.buildOrThrow();
    }

    /**
     * Returns the scores with the highest F1 of boxes at IoU 0.50; empty without true positives.
     */
    @Override
    public Optional<ScoreThresholds> scoreThresholds() {
        return boxes().scoreCurves().thresholds();
    }

    /** Returns the TIDE errors of boxes and, if evaluated, of masks. */
    public List<ErrorBreakdown> errors() {
        return metrics.stream().map(CocoMetrics::parameters).map(this::errors).toList();
    }

    private ErrorBreakdown errors(CocoParameters parameters) {
        return ErrorBreakdown.compute(
                groundTruth, detections, parameters.iouType(), parameters.maxDetectionLimit());
    }

    /** Returns the confusion matrix of boxes with at least the given score. */
    public ConfusionMatrix confusion(double score) {
        return ConfusionMatrix.compute(groundTruth, detections, IouType.BOX, score);
    }
}
