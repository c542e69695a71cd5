package dev.saccade.eval.detection;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Text;
import dev.saccade.eval.MetricReport;
import dev.saccade.eval.MetricTable;
import dev.saccade.eval.coco.ScoreCurve;
import dev.saccade.eval.coco.ScoreCurves;
import dev.saccade.eval.tide.ErrorBreakdown;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Creates the metric report of a detection evaluation. */
public final class DetectionReport {

    private static final int CONFUSIONS = 10;

    private DetectionReport() {}

    /**
     * Creates the report.
     *
     * @param others metrics of other evaluators
     * @param score minimum score of detections in the confusion matrix
     * @param maxPerImage the model's limit on detections per image; empty if none or unknown
     */
    public static MetricReport of(
            DetectionEvaluation evaluation,
            Map<String, Double> others,
            double score,
            Optional<Integer> maxPerImage,
            List<String> notes) {
        ScoreCurves curves = evaluation.boxes().scoreCurves();
        List<ErrorBreakdown> errors = evaluation.errors();
        List<MetricTable> tables =
                List.of(
                        DetectionTables.summary(evaluation.metrics()),
                        DetectionTables.perClass(evaluation.metrics()),
                        DetectionTables.scores(curves));
        ConfusionMatrix confusion = evaluation.confusion(score);
        ImmutableList.Builder<MetricTable> details = ImmutableList.builder();
        details.add(DetectionTables.perThreshold(evaluation.metrics()));
        details.add(DetectionTables.errors(errors));
        if (!confusion.confusions().isEmpty()) {
            details.add(DetectionTables.confusions(confusion, CONFUSIONS));
        }
        ImmutableMap.Builder<String, Object> json = ImmutableMap.builder();
        for (int i = 0; i < evaluation.metrics().size(); i++) {
            String prefix = errors.get(i).iouType().prefix();
            json.put(prefix + "classes", evaluation.metrics().get(i).perClass());
            json.put(prefix + "errors", errors.get(i).rows());
        }
        json.put("scores", scores(curves)).put("confusion", confusion);
        List<String> all = new ArrayList<>(notes);
        maxPerImage.ifPresent(limit -> noteCutOff(all, evaluation, limit));
        noteObjectsAboveLimit(all, evaluation);
        return new MetricReport(tables, details.build(), json.buildOrThrow(), all)
                .with(evaluation.values(), others);
    }

    private static Map<String, Object> scores(ScoreCurves curves) {
        Map<String, ScoreCurve.Point> classes = new LinkedHashMap<>();
        curves.classes()
                .forEach(curve -> curve.best().ifPresent(best -> classes.put(curve.name(), best)));
        ImmutableMap.Builder<String, Object> scores = ImmutableMap.builder();
        curves.best().ifPresent(best -> scores.put("all", best));
        return scores.put("classes", classes).buildOrThrow();
    }

    private static void noteCutOff(List<String> notes, DetectionEvaluation evaluation, int limit) {
        long full =
                evaluation.predictions().stream().filter(found -> found.size() >= limit).count();
        if (full > 0) {
            notes.add(
                    Text.format(
                            "%d of %d images reach the limit of %d detections"
                                    + " (model.head.nms.max_per_img); detections with lower"
                                    + " scores are missing",
                            full, evaluation.predictions().size(), limit));
        }
    }

    private static void noteObjectsAboveLimit(List<String> notes, DetectionEvaluation evaluation) {
        int evaluated = evaluation.boxes().parameters().maxDetectionLimit();
        int objects = evaluation.groundTruth().maxPerImageAndClass();
        if (objects > evaluated) {
            notes.add(
                    Text.format(
                            "an image has %d objects of one class, but AP counts at most %d"
                                    + " detections per image and class; raise the limit with"
                                    + " max_dets=[1,10,%d]",
                            objects, evaluated, objects));
        }
    }
}
