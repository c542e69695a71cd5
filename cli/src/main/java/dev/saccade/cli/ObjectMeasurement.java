package dev.saccade.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.datasets.Dataset;
import dev.saccade.eval.CocoMetrics;
import dev.saccade.eval.CocoResults;
import dev.saccade.eval.ConfusionMatrix;
import dev.saccade.eval.DetectionEvaluator;
import dev.saccade.eval.ErrorBreakdown;
import dev.saccade.eval.Evaluation;
import dev.saccade.eval.IouType;
import dev.saccade.eval.MetricTable;
import dev.saccade.models.Detector;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * How a detector did.
 *
 * @param dataset what it was measured on
 * @param evaluation how it did
 * @param score from which objects count in confusions and in the report
 */
record ObjectMeasurement(Dataset dataset, Evaluation evaluation, double score)
        implements Measurement {

    /**
     * Runs a detector over a data set with a progress bar.
     *
     * @param areaOf whether the size of a mask is that of its box or its own
     */
    static ObjectMeasurement of(
            Detector detector, Dataset dataset, IouType areaOf, double score, int workers) {
        DetectionEvaluator evaluator =
                DetectionEvaluator.of(dataset, detector.spec().model().head().targets(), areaOf);
        try (Progress progress = new Progress("evaluate", evaluator.size(), " photos")) {
            Evaluation evaluation = evaluator.evaluate(detector, workers, progress::to);
            return new ObjectMeasurement(dataset, evaluation, score);
        }
    }

    /** Writes all detections in COCO's results format, boxes and masks each to a file. */
    void writeResults(Path prefix) {
        for (CocoMetrics measured : evaluation.metrics()) {
            IouType iouType = measured.parameters().iouType();
            String suffix = iouType == IouType.BOX ? ".bbox.json" : ".segm.json";
            Path file = prefix.resolveSibling(prefix.getFileName() + suffix);
            CocoResults.write(file, dataset, evaluation.detections(), iouType);
        }
    }

    @Override
    public List<MetricTable> tables() {
        return List.of(
                MetricTable.summary(evaluation.metrics()),
                MetricTable.perClass(evaluation.metrics()));
    }

    @Override
    public List<MetricTable> details() {
        ImmutableList.Builder<MetricTable> tables = ImmutableList.builder();
        tables.add(MetricTable.perThreshold(evaluation.metrics()));
        tables.add(MetricTable.errors(evaluation.errors()));
        ConfusionMatrix confusion = evaluation.confusion(score);
        if (!confusion.confusions().isEmpty()) {
            tables.add(MetricTable.confusions(confusion, CONFUSIONS));
        }
        return tables.build();
    }

    @Override
    public Map<String, Object> json() {
        List<ErrorBreakdown> errors = evaluation.errors();
        ImmutableMap.Builder<String, Object> result = ImmutableMap.builder();
        result.put("metrics", evaluation.values());
        for (int i = 0; i < errors.size(); i++) {
            CocoMetrics measured = evaluation.metrics().get(i);
            String prefix = measured.parameters().iouType().prefix();
            result.put(prefix + "classes", measured.perClass());
            result.put(prefix + "errors", errors.get(i).rows());
        }
        return result.put("confusion", evaluation.confusion(score)).buildOrThrow();
    }

    @Override
    public TaskFigures figures() {
        return ObjectFigures.of(dataset, evaluation, score);
    }
}
