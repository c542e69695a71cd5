package dev.saccade.cli;

import com.google.common.collect.Maps;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.eval.DetectionEvaluator;
import dev.saccade.eval.Evaluation;
import dev.saccade.eval.SegmentationEvaluator;
import dev.saccade.models.ObjectDetector;
import dev.saccade.models.SemanticSegmenter;
import dev.saccade.models.TrainedModel;
import dev.saccade.train.Outcome;
import dev.saccade.train.RunFolder;
import dev.saccade.train.Training;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.logs.TrainListener;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Trains a detector, measures its best state and reports. */
@Command(
        name = "train",
        description = "Train a detector on labelled photographs.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Example:  saccade train configs/retinanet/resnet18_fpn_bccd.yaml --data data/bccd",
            "          saccade train configs/retinanet/resnet18_fpn_bccd.yaml --resume"
        })
final class TrainCommand implements Callable<Integer> {

    /** What a shell shows for a process that Ctrl-C has ended. */
    private static final int INTERRUPTED = 130;

    @Spec private CommandSpec spec;
    @Mixin private ConfigArguments config;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "The folder of the run; runs/NAME-OF-CONFIG by default.")
    private Optional<Path> out = Optional.empty();

    @Option(names = "--resume", description = "Go on with the run in that folder.")
    private boolean resume;

    @Option(
            names = "--init-from",
            paramLabel = "FILE",
            description = "Start from the weights of a checkpoint, such as torchvision's.")
    private Optional<Path> initFrom = Optional.empty();

    @Override
    public Integer call() {
        initFrom.ifPresent(file -> config.override("init_from=" + ConfigArguments.quoted(file)));
        RunConfig run = config.bind();
        Path folder = out.orElse(Path.of("runs", config.name()));
        PrintWriter err = spec.commandLine().getErr();
        Map<String, DatasetReport> reports = CheckCommand.check(run, false);
        if (CheckCommand.hasErrors(reports)) {
            reports.forEach((role, report) -> CheckCommand.print(role, report, err));
            throw SaccadeException.user(
                    "%s: the data set has errors; nothing was trained", run.data().root());
        }
        if (train(run, folder, resume) == Outcome.INTERRUPTED) {
            err.printf("interrupted; go on with --resume%n");
            return INTERRUPTED;
        }
        if (run.data().val().isPresent()) {
            String subtitle = "Trained on %s".formatted(run.data().root());
            Optional<Path> report = report(folder, subtitle, reports, spec.commandLine().getOut());
            report.ifPresent(file -> err.printf("report: %s%n", file));
        }
        return 0;
    }

    /** Trains in a folder, with progress on stderr. */
    static Outcome train(RunConfig run, Path folder, boolean resume) {
        List<TrainListener> progress = List.of(new TrainProgress());
        return resume
                ? Training.resume(run, folder, progress)
                : Training.start(run, folder, progress);
    }

    /**
     * Measures the best state of a run, prints the tables and writes the report.
     *
     * @param subtitle one sentence about the run
     * @param reports what is known about its data sets
     * @return the file of the report
     */
    static Optional<Path> report(
            Path folder, String subtitle, Map<String, DatasetReport> reports, PrintWriter out) {
        RunFolder run = new RunFolder(folder);
        RunConfig config = Training.config(folder);
        Dataset dataset = config.data().val().orElseThrow().open(config.data().root());
        try (TrainedModel model = TrainedModel.load(run.best())) {
            if (model instanceof SemanticSegmenter segmenter) {
                SegmentationEvaluator evaluator = new SegmentationEvaluator(dataset);
                EvalCommand.print(
                        EvalCommand.evaluate(segmenter, evaluator, config.data().workers()), out);
                out.flush();
                return Optional.empty();
            }
            ObjectDetector detector = (ObjectDetector) model;
            DetectionEvaluator evaluator =
                    DetectionEvaluator.of(dataset, detector.spec().model().head().targets());
            Evaluation evaluation =
                    EvalCommand.evaluate(detector, evaluator, config.data().workers());
            EvalCommand.print(evaluation, out);
            out.flush();
            return Optional.of(
                    RunReport.write(folder, subtitle, dataset, evaluation, statistics(reports)));
        }
    }

    private static Map<String, DatasetStatistics> statistics(Map<String, DatasetReport> reports) {
        return Maps.transformValues(reports, DatasetReport::statistics);
    }
}
