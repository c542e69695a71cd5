package dev.saccade.cli;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.Evaluators;
import dev.saccade.eval.segmentation.SegmentationEvaluator;
import dev.saccade.models.Segmenter;
import dev.saccade.report.runs.SegmentationSections;
import dev.saccade.report.runs.TaskMetrics;

import java.util.List;
import java.util.Optional;

/**
 * The evaluation of a segmenter.
 *
 * @param segmenter the evaluated model
 * @param dataset the evaluated data set
 * @param output the metrics
 * @param photographsPerSecond images read, predicted and evaluated per second
 */
record SegmentationMeasurement(
        Segmenter segmenter,
        Dataset dataset,
        SegmentationOutput output,
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
                                        new SegmentationOutput(
                                                evaluator.evaluate(), ran.others(), List.of()),
                                        ran.photographsPerSecond()));
    }

    @Override
    public TaskMetrics figures(int examples) {
        return SegmentationSections.collect(segmenter, dataset, output.evaluation(), examples);
    }
}
