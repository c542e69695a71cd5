package dev.saccade.cli;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Dataset;
import dev.saccade.models.TrainedModel;
import dev.saccade.train.Training;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Measures a trained model on labeled photographs. */
@Command(
        name = "eval",
        description = {
            "Measure a trained model: COCO average precision of a detector, mean IoU of a"
                    + " segmenter."
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Example:  saccade eval runs/resnet18_fpn_bccd --data data/bccd",
            "          saccade eval runs/resnet18_fpn_bccd --nproc 4"
        })
final class EvalCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;
    @Mixin private RunArgument run;
    @Mixin private DataOption data;
    @Mixin private ViewOptions views;
    @Mixin private ComputeOptions compute;
    @Mixin private RankOptions ranks;
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
        if (ranks.areToBeStarted()) {
            return ranks.start(spec);
        }
        return ranks.together(group -> measure());
    }

    private int measure() {
        Path checkpoint = run.checkpoint();
        RunConfig config = run.config(data.root());
        Dataset dataset = Training.measured(config);
        MeasurementOptions options =
                new MeasurementOptions(
                        config.evaluators(), config.data().workers(), score, boxAreas, results);
        try (TrainedModel<?> model = views.load(checkpoint, compute)) {
            Task task = Task.of(model);
            task.requireObjectsFor(run, spec, "--results", "--score", "--box-areas");
            task.measure(dataset, options).ifPresent(this::report);
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

    private void report(Measurement measured) {
        if (json.wanted()) {
            json.print(spec, measured.json());
            return;
        }
        PrintWriter out = spec.commandLine().getOut();
        measured.tables().forEach(out::println);
        measured.details().forEach(out::println);
    }
}
