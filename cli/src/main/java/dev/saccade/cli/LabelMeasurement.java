package dev.saccade.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.datasets.Dataset;
import dev.saccade.eval.MetricTable;
import dev.saccade.eval.SegmentationEvaluation;
import dev.saccade.eval.SegmentationEvaluator;
import dev.saccade.models.Segmenter;

import java.util.List;
import java.util.Map;

/**
 * How a segmenter did.
 *
 * @param segmenter what was measured
 * @param dataset what it was measured on
 * @param evaluation how it did
 */
record LabelMeasurement(Segmenter segmenter, Dataset dataset, SegmentationEvaluation evaluation)
        implements Measurement {

    /** Runs a segmenter over a data set with a progress bar. */
    static LabelMeasurement of(Segmenter segmenter, Dataset dataset, int workers) {
        SegmentationEvaluator evaluator = new SegmentationEvaluator(dataset);
        try (Progress progress = new Progress("evaluate", evaluator.size(), " photos")) {
            SegmentationEvaluation evaluation =
                    evaluator.evaluate(segmenter, workers, progress::to);
            return new LabelMeasurement(segmenter, dataset, evaluation);
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
        return evaluation.confusions().isEmpty()
                ? ImmutableList.of()
                : ImmutableList.of(MetricTable.confusions(evaluation, CONFUSIONS));
    }

    @Override
    public Map<String, Object> json() {
        return ImmutableMap.of(
                "metrics",
                evaluation.values(),
                "classes",
                evaluation.metrics().perClass(),
                "confusion",
                ImmutableMap.of(
                        "classes", evaluation.classes(), "counts", evaluation.confusion().rows()));
    }

    @Override
    public TaskFigures figures() {
        return LabelFigures.of(segmenter, dataset, evaluation);
    }
}
