package dev.saccade.cli;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.CocoMetrics;
import dev.saccade.eval.CocoResults;
import dev.saccade.eval.ConfusionMatrix;
import dev.saccade.eval.DetectionEvaluator;
import dev.saccade.eval.ErrorBreakdown;
import dev.saccade.eval.Evaluation;
import dev.saccade.eval.IouType;
import dev.saccade.eval.MetricTable;
import dev.saccade.eval.SegmentationEvaluator;
import dev.saccade.eval.SegmentationMetrics;
import dev.saccade.models.ObjectDetector;
import dev.saccade.models.SemanticSegmenter;
import dev.saccade.models.TrainedModel;
import dev.saccade.train.config.DataConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Measures a trained detector on labelled photographs. */
@Command(
        name = "eval",
        description = "Measure COCO average precision of a trained detector.",
        mixinStandardHelpOptions = true,
        footer = {"", "Example:  saccade eval runs/resnet18_fpn_bccd --data data/bccd"})
final class EvalCommand implements Callable<Integer> {

    private static final int CONFUSIONS = 10;

    @Spec private CommandSpec spec;
    @Mixin private RunArgument run;
    @Mixin private DataOption data;
    @Mixin private ViewOptions views;
    @Mixin private JsonOption json;

    @Option(
            names = "--results",
            paramLabel = "PREFIX",
            description =
                    "Write all detections in COCO's results format: boxes to PREFIX.bbox.json,"
                            + " masks to PREFIX.segm.json.")
    private Optional<Path> results = Optional.empty();

    @Option(
            names = "--score",
            paramLabel = "S",
            defaultValue = "0.3",
            description =
                    "Confusions are counted among detections with this score and more;"
                            + " ${DEFAULT-VALUE} by default.")
    private double score;

    @Option(
            names = "--box-areas",
            description =
                    "Tell small, medium and large masks by the area of their box, as mmdetection did"
                            + " before 2.12.")
    private boolean boxAreas;

    @Override
    public Integer call() {
        results.ifPresent(EvalCommand::requireFolder);
        ConfigArguments.requireShare("--score", score);
        DataConfig config = run.config(data.root()).data();
        Dataset dataset =
                config.val()
                        .orElseThrow(
                                () ->
                                        SaccadeException.user(
                                                "the config of the run names no data.val to measure"
                                                        + " on"))
                        .open(config.root());
        try (TrainedModel model = views.load(run.checkpoint())) {
            requireSameClasses(model.classes(), dataset.classes());
            if (model instanceof ObjectDetector detector) {
                Evaluation evaluation =
                        evaluate(detector, evaluator(dataset, detector), config.workers());
                results.ifPresent(prefix -> write(prefix, dataset, evaluation));
                report(evaluation);
            } else {
                SegmentationEvaluator evaluator = new SegmentationEvaluator(dataset);
                report(evaluate((SemanticSegmenter) model, evaluator, config.workers()));
            }
        }
        return 0;
    }

    private static void requireFolder(Path prefix) {
        Path folder = prefix.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw SaccadeException.user(
                    "--results: got %s, expected a prefix in a folder that exists", prefix);
        }
    }

    private DetectionEvaluator evaluator(Dataset dataset, ObjectDetector detector) {
        IouType areaOf = boxAreas ? IouType.BOX : IouType.MASK;
        return DetectionEvaluator.of(dataset, detector.spec().model().head().targets(), areaOf);
    }

    /** Runs a detector over a data set with a progress bar. */
    static Evaluation evaluate(ObjectDetector detector, DetectionEvaluator evaluator, int workers) {
        try (Progress progress = new Progress("evaluate", evaluator.size(), " photos")) {
            return evaluator.evaluate(
                    detector.spec().viewTransforms(), detector::detect, workers, progress::to);
        }
    }

    /** Runs a segmenter over a data set with a progress bar. */
    static SegmentationMetrics evaluate(
            SemanticSegmenter segmenter, SegmentationEvaluator evaluator, int workers) {
        try (Progress progress = new Progress("evaluate", evaluator.size(), " photos")) {
            return evaluator.evaluate(
                    segmenter.spec().viewTransforms(), segmenter::segment, workers, progress::to);
        }
    }

    private static void write(Path prefix, Dataset dataset, Evaluation evaluation) {
        for (CocoMetrics measured : evaluation.metrics()) {
            IouType iouType = measured.parameters().iouType();
            String suffix = iouType == IouType.BOX ? ".bbox.json" : ".segm.json";
            Path file = prefix.resolveSibling(prefix.getFileName() + suffix);
            CocoResults.write(file, dataset, evaluation.detections(), iouType);
        }
    }

    private static void requireSameClasses(List<String> trained, List<String> labelled) {
        if (!trained.equals(labelled)) {
            throw SaccadeException.user(
                    "the data set is labelled with %s but the model was trained for %s; labels"
                            + " would be mixed up",
                    labelled, trained);
        }
    }

    private void report(Evaluation evaluation) {
        List<ErrorBreakdown> errors = evaluation.errors();
        ConfusionMatrix confusion = evaluation.confusion(score);
        if (json.wanted()) {
            ImmutableMap.Builder<String, Object> result = ImmutableMap.builder();
            result.put("metrics", evaluation.values());
            for (int i = 0; i < errors.size(); i++) {
                CocoMetrics measured = evaluation.metrics().get(i);
                String prefix = measured.parameters().iouType().prefix();
                result.put(prefix + "classes", measured.perClass());
                result.put(prefix + "errors", errors.get(i).rows());
            }
            json.print(spec, result.put("confusion", confusion).buildOrThrow());
            return;
        }
        PrintWriter out = spec.commandLine().getOut();
        print(evaluation, out);
        out.println(MetricTable.perThreshold(evaluation.metrics()));
        out.println(MetricTable.errors(errors));
        if (!confusion.confusions().isEmpty()) {
            out.println(MetricTable.confusions(confusion, CONFUSIONS));
        }
    }

    private void report(SegmentationMetrics metrics) {
        if (json.wanted()) {
            json.print(
                    spec,
                    ImmutableMap.of("metrics", metrics.values(), "classes", metrics.perClass()));
            return;
        }
        print(metrics, spec.commandLine().getOut());
    }

    /** Prints the tables that every evaluation of label maps ends with. */
    static void print(SegmentationMetrics metrics, PrintWriter out) {
        out.println(MetricTable.summary(metrics));
        out.println(MetricTable.perClass(metrics));
    }

    /** Prints the tables that every evaluation of objects ends with. */
    static void print(Evaluation evaluation, PrintWriter out) {
        out.println(MetricTable.summary(evaluation.metrics()));
        out.println(MetricTable.perClass(evaluation.metrics()));
    }
}
