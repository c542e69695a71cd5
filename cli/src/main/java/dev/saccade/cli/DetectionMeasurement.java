package dev.saccade.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Iterables;
import com.google.common.collect.Streams;

import dev.saccade.cli.figures.DetectionFigures;
import dev.saccade.cli.figures.TaskFigures;
import dev.saccade.config.Configs;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.Evaluators;
import dev.saccade.eval.MetricTable;
import dev.saccade.eval.coco.AveragePrecision;
import dev.saccade.eval.coco.ClassMetrics;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.ScoreCurve;
import dev.saccade.eval.coco.ScoreCurves;
import dev.saccade.eval.detection.ConfusionMatrix;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.eval.detection.DetectionTables;
import dev.saccade.eval.tide.ErrorBreakdown;
import dev.saccade.models.Detector;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How a detector did.
 *
 * @param dataset what it was measured on
 * @param evaluation how it did
 * @param others the metrics of other evaluators that its run names
 * @param photographsPerSecond how fast it was measured
 * @param score from which objects count in confusions, and in the report if none is recommended
 */
record DetectionMeasurement(
        Dataset dataset,
        DetectionEvaluation evaluation,
        Map<String, Double> others,
        double photographsPerSecond,
        double score)
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
                                                coco.evaluate(),
                                                ran.others(),
                                                ran.photographsPerSecond(),
                                                options.score()));
        measured.ifPresent(all -> options.results().ifPresent(all::writeResults));
        return measured;
    }

    private static DetectionEvaluator.Config coco(MeasurementOptions options) {
        DetectionEvaluator.Config config =
                Streams.stream(
                                Iterables.filter(
                                        options.evaluators(), DetectionEvaluator.Config.class))
                        .findFirst()
                        .orElseGet(() -> Configs.of(DetectionEvaluator.Config.class));
        return options.boxAreas()
                ? new DetectionEvaluator.Config(IouType.BOX, config.maxDets())
                : config;
    }

    /** Writes all detections in COCO's results format, boxes and masks each to a file. */
    private void writeResults(Path prefix) {
        for (CocoMetrics measured : evaluation.metrics()) {
            IouType iouType = measured.parameters().iouType();
            String suffix = iouType == IouType.BOX ? ".bbox.json" : ".segm.json";
            Path file = prefix.resolveSibling(prefix.getFileName() + suffix);
            CocoResults.write(file, dataset, evaluation.detections(), iouType);
        }
    }

    @Override
    public List<MetricTable> tables() {
        return Measurement.withOthers(
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
            tables.add(DetectionTables.confusions(confusion, TaskFigures.CONFUSIONS));
        }
        return tables.build();
    }

    @Override
    public Map<String, Object> json() {
        List<ErrorBreakdown> errors = evaluation.errors();
        ImmutableMap.Builder<String, Object> result = ImmutableMap.builder();
        result.put("metrics", Measurement.joined(evaluation.values(), others));
        for (int i = 0; i < errors.size(); i++) {
            CocoMetrics measured = evaluation.metrics().get(i);
            String prefix = measured.parameters().iouType().prefix();
            result.put(
                    prefix + "classes",
                    measured.perClass().stream().map(DetectionMeasurement::json).toList());
            result.put(prefix + "errors", errors.get(i).rows());
        }
        return result.put("scores", scores(evaluation.boxes().scoreCurves()))
                .put("confusion", evaluation.confusion(score))
                .buildOrThrow();
    }

    /** Returns the recommended scores: one for all classes, if any is found, and of each found. */
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
    public TaskFigures figures(int examples) {
        return DetectionFigures.collect(dataset, evaluation, score, examples);
    }
}
