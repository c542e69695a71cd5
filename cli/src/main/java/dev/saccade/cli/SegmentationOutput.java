package dev.saccade.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.eval.MetricTable;
import dev.saccade.eval.segmentation.SegmentationEvaluation;
import dev.saccade.eval.segmentation.SegmentationTables;
import dev.saccade.report.runs.TaskMetrics;

import java.util.List;
import java.util.Map;

/**
 * The metrics of label maps, of a model or of a folder.
 *
 * @param evaluation the label maps compared with the data set
 * @param others metrics of other evaluators
 * @param notes what the metrics leave out
 */
record SegmentationOutput(
        SegmentationEvaluation evaluation, Map<String, Double> others, List<String> notes)
        implements EvaluationOutput {

    @Override
    public List<MetricTable> tables() {
        return EvaluationOutput.withOthers(
                others,
                SegmentationTables.summary(evaluation.metrics()),
                SegmentationTables.perClass(evaluation.metrics()));
    }

    @Override
    public List<MetricTable> details() {
        return evaluation.confusions().isEmpty()
                ? ImmutableList.of()
                : ImmutableList.of(
                        SegmentationTables.confusions(evaluation, TaskMetrics.CONFUSIONS));
    }

    @Override
    public Map<String, Object> json() {
        return ImmutableMap.of(
                "metrics",
                EvaluationOutput.joined(evaluation.values(), others),
                "classes",
                evaluation.metrics().perClass(),
                "confusion",
                ImmutableMap.of(
                        "classes", evaluation.classes(), "counts", evaluation.confusion().rows()));
    }
}
