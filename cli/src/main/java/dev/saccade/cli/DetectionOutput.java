package dev.saccade.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Text;
import dev.saccade.eval.MetricTable;
import dev.saccade.eval.coco.AveragePrecision;
import dev.saccade.eval.coco.ClassMetrics;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.ScoreCurve;
import dev.saccade.eval.coco.ScoreCurves;
import dev.saccade.eval.detection.ConfusionMatrix;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.detection.DetectionTables;
import dev.saccade.eval.tide.ErrorBreakdown;
import dev.saccade.report.runs.TaskMetrics;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The metrics of detections, of a model or of a results file.
 *
 * @param evaluation the detections compared with the data set
 * @param others metrics of other evaluators
 * @param score minimum score of detections in the confusion matrix
 * @param maxPerImage the model's limit on detections per image, if it has one
 * @param origin notes on the origin of the detections
 */
record DetectionOutput(
        DetectionEvaluation evaluation,
        Map<String, Double> others,
        double score,
        Optional<Integer> maxPerImage,
        List<String> origin)
        implements EvaluationOutput {

    @Override
    public List<MetricTable> tables() {
        return EvaluationOutput.withOthers(
                others,
                DetectionTables.summary(evaluation.metrics()),
                DetectionTables.perClass(evaluation.metrics()),
                DetectionTables.scores(evaluation.boxes().scoreCurves()));
    }

    @Override
    public List<MetricTable> details() {
        ImmutableList.Builder<MetricTable> tables = ImmutableList.builder();
        tables.add(DetectionTables.perThreshold(evaluation.metrics()));
        tables.add(DetectionTables.errors(evaluation.errors()));
        ConfusionMatrix confusion = evaluation.confusion(score);
        if (!confusion.confusions().isEmpty()) {
            tables.add(DetectionTables.confusions(confusion, TaskMetrics.CONFUSIONS));
        }
        return tables.build();
    }

    @Override
    public Map<String, Object> json() {
        List<ErrorBreakdown> errors = evaluation.errors();
        ImmutableMap.Builder<String, Object> result = ImmutableMap.builder();
        result.put("metrics", EvaluationOutput.joined(evaluation.values(), others));
        for (int i = 0; i < errors.size(); i++) {
            CocoMetrics measured = evaluation.metrics().get(i);
            String prefix = measured.parameters().iouType().prefix();
            result.put(
                    prefix + "classes",
                    measured.perClass().stream().map(DetectionOutput::json).toList());
            result.put(prefix + "errors", errors.get(i).rows());
        }
        return result.put("scores", scores(evaluation.boxes().scoreCurves()))
                .put("confusion", evaluation.confusion(score))
                .buildOrThrow();
    }

    /** Returns the recommended scores: one for all classes, and one for each class found. */
    private static Map<String, Object> scores(ScoreCurves curves) {
        Map<String, ScoreCurve.Point> classes = new LinkedHashMap<>();
        curves.classes()
                .forEach(curve -> curve.best().ifPresent(best -> classes.put(curve.name(), best)));
        ImmutableMap.Builder<String, Object> scores = ImmutableMap.builder();
        curves.common().ifPresent(best -> scores.put("all", best));
        return scores.put("classes", classes).buildOrThrow();
    }

    private static Map<String, Object> json(ClassMetrics metrics) {
        AveragePrecision precision = metrics.precision();
        return ImmutableMap.<String, Object>builder()
                .put("name", metrics.name())
                .put("objects", metrics.objects())
                .put("ap", precision.ap())
                .put("ap50", precision.ap50())
                .put("ap75", precision.ap75())
                .put("apSmall", precision.apSmall())
                .put("apMedium", precision.apMedium())
                .put("apLarge", precision.apLarge())
                .buildOrThrow();
    }

    @Override
    public List<String> notes() {
        ImmutableList.Builder<String> notes = ImmutableList.builder();
        notes.addAll(origin);
        maxPerImage.flatMap(this::cutOff).ifPresent(notes::add);
        int evaluated = evaluation.boxes().parameters().mostDetections();
        int objects = evaluation.groundTruth().mostPerImageAndClass();
        if (objects > evaluated) {
            notes.add(
                    Text.format(
                            "an image has %d objects of one class, but AP counts %d detections per"
                                    + " image and class; raise the limit with --max-dets 1,10,%d",
                            objects, evaluated, objects));
        }
        return notes.build();
    }

    private Optional<String> cutOff(int limit) {
        long full =
                evaluation.predictions().stream().filter(found -> found.size() >= limit).count();
        return full == 0
                ? Optional.empty()
                : Optional.of(
                        Text.format(
                                "%d of %d images reach the limit of %d detections"
                                        + " (model.head.nms.max_per_img); detections with lower"
                                        + " scores are missing",
                                full, evaluation.predictions().size(), limit));
    }
}
