package dev.saccade.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.cli.figures.SegmentationFigures;
import dev.saccade.cli.figures.TaskFigures;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.Evaluators;
import dev.saccade.eval.MetricTable;
import dev.saccade.eval.segmentation.SegmentationEvaluation;
import dev.saccade.eval.segmentation.SegmentationEvaluator;
import dev.saccade.eval.segmentation.SegmentationTables;
import dev.saccade.models.Segmenter;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How a segmenter did.
 *
 * @param segmenter what was measured
 * @param dataset what it was measured on
 * @param evaluation how it did
 * @param others the metrics of other evaluators that its run names
 * @param photographsPerSecond how fast it was measured
 */
record SegmentationMeasurement(
        Segmenter segmenter,
        Dataset dataset,
        SegmentationEvaluation evaluation,
        Map<String, Double> others,
        double photographsPerSecond)
        implements Measurement {

    /** Runs a segmenter over a data set with a progress bar; returns nothing but in rank 0. */
    static Optional<SegmentationMeasurement> measure(
            Segmenter segmenter, Dataset dataset, MeasurementOptions options) {
        int workers = options.workers();
        SegmentationEvaluator evaluator = new SegmentationEvaluator(dataset);
        Evaluators<LabelMap> others =
                Evaluators.build(
                        options.evaluatorsBeside(SegmentationEvaluator.Config.class),
                        LabelMap.class,
                        dataset,
                        segmenter.spec().model().head().targets(),
                        workers);
        return Measurement.run(segmenter, dataset, evaluator, others, workers)
                .map(
                        ran ->
                                new SegmentationMeasurement(
                                        segmenter,
                                        dataset,
                                        evaluator.evaluate(),
                                        ran.others(),
                                        ran.photographsPerSecond()));
    }

    @Override
    public List<MetricTable> tables() {
        return Measurement.withOthers(
                others,
                SegmentationTables.summary(evaluation.metrics()),
                SegmentationTables.perClass(evaluation.metrics()));
    }

    @Override
    public List<MetricTable> details() {
        return evaluation.confusions().isEmpty()
                ? ImmutableList.of()
                : ImmutableList.of(
                        SegmentationTables.confusions(evaluation, TaskFigures.CONFUSIONS));
    }

    @Override
    public Map<String, Object> json() {
        return ImmutableMap.of(
                "metrics",
                Measurement.joined(evaluation.values(), others),
                "classes",
                evaluation.metrics().perClass(),
                "confusion",
                ImmutableMap.of(
                        "classes", evaluation.classes(), "counts", evaluation.confusion().rows()));
    }

    @Override
    public TaskFigures figures(int examples) {
        return SegmentationFigures.collect(segmenter, dataset, evaluation, examples);
    }
}
