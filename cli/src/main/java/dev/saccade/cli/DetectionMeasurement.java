package dev.saccade.cli;

import com.google.common.collect.Iterables;
import com.google.common.collect.Streams;

import dev.saccade.config.Configs;
import dev.saccade.core.parts.HeadConfig;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.Evaluators;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.models.Detector;
import dev.saccade.report.runs.DetectionSections;
import dev.saccade.report.runs.TaskMetrics;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The evaluation of a detector.
 *
 * @param dataset the evaluated data set
 * @param output the metrics
 * @param photographsPerSecond images read, predicted and evaluated per second
 */
record DetectionMeasurement(Dataset dataset, DetectionOutput output, double photographsPerSecond)
        implements Measurement {

    /** Runs a detector over a data set with a progress bar; returns nothing but in rank 0. */
    static Optional<DetectionMeasurement> measure(
            Detector detector, Dataset dataset, MeasurementOptions options) {
        TargetKind targets = detector.spec().model().head().targets();
        int workers = options.workers();
        DetectionEvaluator coco = coco(options).build(dataset, targets, workers);
        Evaluators<Instances> others =
                Evaluators.build(
                        options.evaluatorsBeside(DetectionEvaluator.Config.class),
                        Instances.class,
                        dataset,
                        targets,
                        workers);
        Optional<DetectionMeasurement> measured =
                Measurement.run(detector, dataset, coco, others, workers)
                        .map(
                                ran ->
                                        new DetectionMeasurement(
                                                dataset,
                                                new DetectionOutput(
                                                        coco.evaluate(),
                                                        ran.others(),
                                                        options.score(),
                                                        maxPerImage(detector),
                                                        List.of()),
                                                ran.photographsPerSecond()));
        measured.ifPresent(all -> options.results().ifPresent(all::writeResults));
        return measured;
    }

    private static Optional<Integer> maxPerImage(Detector detector) {
        Map<String, Integer> limits = detector.spec().model().head().objectLimits();
        return Optional.ofNullable(limits.get(HeadConfig.MAX_PER_IMG));
    }

    private static DetectionEvaluator.Config coco(MeasurementOptions options) {
        DetectionEvaluator.Config config =
                Streams.stream(
                                Iterables.filter(
                                        options.evaluators(), DetectionEvaluator.Config.class))
                        .findFirst()
                        .orElseGet(() -> Configs.of(DetectionEvaluator.Config.class));
        return new DetectionEvaluator.Config(
                options.boxAreas() ? IouType.BOX : config.areaOf(),
                options.maxDets().orElse(config.maxDets()));
    }

    /** Writes all detections in COCO's results format, boxes and masks each to a file. */
    private void writeResults(Path prefix) {
        for (CocoMetrics measured : output.evaluation().metrics()) {
            IouType iouType = measured.parameters().iouType();
            String suffix = iouType == IouType.BOX ? ".bbox.json" : ".segm.json";
            Path file = prefix.resolveSibling(prefix.getFileName() + suffix);
            CocoResults.write(file, dataset, output.evaluation().detections(), iouType);
        }
    }

    @Override
    public TaskMetrics figures(int examples) {
        return DetectionSections.collect(dataset, output.evaluation(), output.score(), examples);
    }
}
