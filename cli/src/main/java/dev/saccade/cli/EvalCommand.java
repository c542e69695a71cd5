package dev.saccade.cli;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.CocoResults;
import dev.saccade.eval.CocoTable;
import dev.saccade.eval.DetectionEvaluator;
import dev.saccade.eval.Evaluation;
import dev.saccade.models.ObjectDetector;
import dev.saccade.train.config.DataConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
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

    @Spec private CommandSpec spec;
    @Mixin private RunArgument run;
    @Mixin private DataOption data;
    @Mixin private JsonOption json;

    @Option(
            names = "--results",
            paramLabel = "FILE",
            description = "Write all detections in COCO's results format.")
    private Optional<Path> results = Optional.empty();

    @Override
    public Integer call() {
        DataConfig config = run.config(data.root()).data();
        Dataset dataset =
                config.val()
                        .orElseThrow(
                                () ->
                                        SaccadeException.user(
                                                "the config of the run names no data.val to measure"
                                                        + " on"))
                        .open(config.root());
        try (ObjectDetector detector = ObjectDetector.load(run.checkpoint())) {
            requireSameClasses(detector.classes(), dataset.classes());
            Evaluation evaluation = evaluate(detector, dataset, config.workers());
            results.ifPresent(file -> CocoResults.write(file, dataset, evaluation.detections()));
            report(evaluation);
        }
        return 0;
    }

    /** Runs a detector over a data set with a progress bar. */
    static Evaluation evaluate(ObjectDetector detector, Dataset dataset, int workers) {
        try (Progress progress = new Progress("evaluate", dataset.size(), " photos")) {
            return DetectionEvaluator.evaluate(
                    dataset, detector.spec().transforms(), detector::detect, workers, progress::to);
        }
    }

    private static void requireSameClasses(List<String> trained, List<String> labelled) {
        if (!trained.equals(labelled)) {
            throw SaccadeException.user(
                    "the data set is labelled with %s but the detector was trained for %s; labels"
                            + " would be mixed up",
                    labelled, trained);
        }
    }

    private void report(Evaluation evaluation) {
        if (json.wanted()) {
            json.print(
                    spec,
                    ImmutableMap.of(
                            "metrics", evaluation.metrics().values(),
                            "classes", evaluation.metrics().perClass()));
            return;
        }
        PrintWriter out = spec.commandLine().getOut();
        out.println(CocoTable.summary(evaluation.metrics()));
        out.println(CocoTable.perClass(evaluation.metrics()));
    }
}
