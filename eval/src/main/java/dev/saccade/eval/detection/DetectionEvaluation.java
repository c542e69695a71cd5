package dev.saccade.eval.detection;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Annotation;
import dev.saccade.eval.Evaluation;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.eval.coco.Detections;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.Verdict;
import dev.saccade.eval.tide.ErrorBreakdown;

import java.util.List;
import java.util.Map;

/**
 * How a detector did on a data set, down to the single photograph.
 *
 * @param predictions what was found, by index of the photograph
 * @param verdicts likewise, what has become of each box at IoU .50
 * @param missed likewise, the objects that no box covers at IoU .50; crowds need not be
 * @param groundTruth what was to be found
 * @param detections the predictions in one list, ready for {@link CocoResults#write}
 * @param metrics average precision and recall of boxes and, after those, of masks if the detector
 *     finds masks
 */
public record DetectionEvaluation(
        List<Instances> predictions,
        List<List<Verdict>> verdicts,
        List<List<Annotation>> missed,
        GroundTruth groundTruth,
        Detections detections,
        List<CocoMetrics> metrics)
        implements Evaluation {

    /** Keeps copies of the lists. */
    public DetectionEvaluation {
        predictions = ImmutableList.copyOf(predictions);
        verdicts = ImmutableList.copyOf(verdicts);
        missed = ImmutableList.copyOf(missed);
        metrics = ImmutableList.copyOf(metrics);
    }

    /** Returns average precision and recall of the boxes. */
    public CocoMetrics boxes() {
        return metrics.get(0);
    }

    /** Returns all metrics by name, such as {@code AP50} of boxes and {@code mask_AP50}. */
    @Override
    public Map<String, Double> values() {
        ImmutableMap.Builder<String, Double> values = ImmutableMap.builder();
        metrics.forEach(measured -> values.putAll(measured.values()));
        return values.buildOrThrow();
    }

    /** Returns what is wrong, with boxes and, after those, with masks if there are any. */
    public List<ErrorBreakdown> errors() {
        return metrics.stream()
                .map(measured -> measured.parameters().iouType())
                .map(iouType -> ErrorBreakdown.compute(groundTruth, detections, iouType))
                .toList();
    }

    /**
     * Returns which class is taken for which, by the overlap of boxes.
     *
     * @param score from which a detection counts
     */
    public ConfusionMatrix confusion(double score) {
        return ConfusionMatrix.compute(groundTruth, detections, IouType.BOX, score);
    }
}
