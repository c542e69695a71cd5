package dev.saccade.cli;

import ai.djl.Device;

import com.google.common.collect.Maps;

import dev.saccade.config.ConfigWriter;
import dev.saccade.core.Devices;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.Autocast;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.models.TrainedModel;
import dev.saccade.train.DataReports;
import dev.saccade.train.Outcome;
import dev.saccade.train.Training;
import dev.saccade.train.config.DataConfig;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Trains a model, measures its best state and reports. */
@Command(
        name = "train",
        description = "Train a detector or segmenter on labeled photographs.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Example:  saccade train configs/retinanet/resnet18_fpn_bccd.yaml --data data/bccd",
            "          saccade train runs/resnet18_fpn_bccd --resume"
        })
final class TrainCommand implements Callable<Integer> {

    /** What a shell shows for a process that Ctrl-C has ended. */
    private static final int INTERRUPTED = 130;

    @Spec private CommandSpec spec;
    @Mixin private ConfigArguments config;
    @Mixin private ComputeOptions compute;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description =
                    "The folder of the run; by default runs/NAME-OF-CONFIG, or the one named.")
    private Optional<Path> out = Optional.empty();

    @Option(
            names = "--resume",
            description = "Go on with the run, with the config that it has or the same.")
    private boolean resume;

    @Option(
            names = "--init-from",
            paramLabel = "FILE",
            description = "Start from the weights of a checkpoint, such as torchvision's.")
    private Optional<Path> initFrom = Optional.empty();

    @Override
    public Integer call() {
        initFrom.ifPresent(this::startFrom);
        compute.overrides().forEach(config::override);
        Training training = config.training();
        // What is missing for it is told before all photographs are looked at.
        Device computing = Devices.here().choose(training.config().device());
        Autocast.require(training.config().precision(), computing);
        Path folder = out.or(config::run).orElse(Path.of("runs", config.name()));
        PrintWriter err = spec.commandLine().getErr();
        DataReports reports = CheckCommand.check(training, false);
        DataConfig data = training.config().data();
        if (reports.hasErrors()) {
            reports.byRole().forEach((role, report) -> CheckCommand.print(role, report, err));
            throw SaccadeException.user(
                    "%s: the data set has errors; nothing was trained", data.root());
        }
        if (train(training, folder, resume) == Outcome.INTERRUPTED) {
            err.println(
                    Printable.format(
                            "interrupted; go on with: ./saccade train %s --resume", folder));
            return INTERRUPTED;
        }
        if (data.val().isPresent()) {
            String subtitle = "Trained on %s".formatted(data.root());
            Path report = report(folder, subtitle, reports, spec.commandLine().getOut());
            err.println(Printable.format("report: %s", report));
        }
        return 0;
    }

    private void startFrom(Path weights) {
        ConvertCommand.requireCheckpoint(weights);
        config.override("init_from=" + ConfigWriter.text(weights.toString()));
    }

    /** Trains in a folder, with progress on stderr, until all is done or Ctrl-C is pressed. */
    static Outcome train(Training training, Path folder, boolean resume) {
        Hook progress = new TrainProgress();
        return StopSignal.during(
                () -> resume ? training.resume(folder, progress) : training.start(folder, progress),
                training::stop);
    }

    /**
     * Measures the best state of a run, or its last if none was the best, prints the tables and
     * writes the report.
     *
     * @param subtitle one sentence about the run
     * @param reports what is known about its data sets
     * @return the file of the report
     */
    static Path report(Path folder, String subtitle, DataReports reports, PrintWriter out) {
        RunConfig config = Training.config(folder);
        DataConfig data = config.data();
        Dataset dataset = data.val().orElseThrow().open(data.root());
        Device computing = Devices.here().choose(config.device());
        try (TrainedModel<?> model = TrainedModel.load(RunArgument.bestOf(folder), computing)) {
            Measurement measured =
                    Task.of(model).measure(dataset, MeasurementOptions.ofReport(config));
            measured.tables().forEach(out::println);
            out.flush();
            return RunReport.write(folder, subtitle, measured.figures(), statistics(reports));
        }
    }

    private static Map<String, DatasetStatistics> statistics(DataReports reports) {
        return Maps.transformValues(reports.byRole(), DatasetReport::statistics);
    }
}
