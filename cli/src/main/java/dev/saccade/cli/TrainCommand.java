package dev.saccade.cli;

import com.google.common.base.Ascii;

import dev.saccade.cli.terminal.StopSignal;
import dev.saccade.config.ConfigWriter;
import dev.saccade.core.Devices;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.distributed.RankLog;
import dev.saccade.core.ops.Autocast;
import dev.saccade.models.TrainedModel;
import dev.saccade.report.runs.RunEvaluation;
import dev.saccade.report.runs.RunReport;
import dev.saccade.train.Outcome;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.InitialWeights;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;
import dev.saccade.train.hooks.Hook;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

@Command(
        name = "train",
        description = "Train a detector, segmenter or classifier on labeled images.",
        footer = {
            "",
            "Example:  saccade train configs/retinanet/resnet18_fpn_bccd.yaml --data data/bccd",
            "          saccade train resnet18_fpn_bccd --image-size 512x384 --epochs 24",
            "          saccade train runs/resnet18_fpn_bccd --resume",
            "          saccade train configs/retinanet/resnet18_fpn_bccd.yaml --nproc 4"
        })
final class TrainCommand extends BaseCommand {

    /** Exit code of a process that was ended by Ctrl-C. */
    private static final int INTERRUPTED = 130;

    @Mixin private ConfigArguments config;
    @Mixin private ShortOptions shortOptions;
    @Mixin private ComputeOptions compute;
    @Mixin private RankOptions ranks;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description =
                    "Write the run to this folder. Default: runs/NAME-OF-CONFIG, or"
                            + " the given run.")
    private Optional<Path> out = Optional.empty();

    @Option(
            names = "--resume",
            description = "Continue the run; settings that affect training must be unchanged.")
    private boolean resume;

    @Option(
            names = "--max-restarts",
            paramLabel = "K",
            defaultValue = "0",
            description =
                    "Restart all ranks from the last checkpoint if one fails, at most"
                            + " K times; needs --nproc. Default: ${DEFAULT-VALUE}.")
    private int maxRestarts;

    @Option(
            names = "--init-from",
            paramLabel = "WEIGHTS",
            description =
                    "Start from pretrained weights such as swin_tiny (list them with"
                            + " saccade weights), a checkpoint, a run, or none.")
    private Optional<String> initFrom = Optional.empty();

    /** Result of a rank; only rank 0 checks the data sets and has reports. */
    private record Trained(Outcome outcome, Optional<DataReports> reports) {}

    @Override
    public Integer call() {
        config.requireNoCheckpoint(
                "start from its weights with --init-from, or"
                        + " continue its run with RUN --resume");
        config.override(shortOptions);
        initFrom.ifPresent(this::startFrom);
        compute.overrides().forEach(config::override);
        requireRestartable();
        Path folder = out.or(config::run).orElse(Path.of("runs", config.name()));
        if (ranks.isLauncher()) {
            return startRanks(new RunFolder(folder));
        }
        Training training = config.training();
        Trained trained = ranks.run(group -> train(training.on(group), folder, group));
        if (trained.outcome == Outcome.INTERRUPTED) {
            return INTERRUPTED;
        }
        if (trained.reports.isPresent()) {
            String subtitle = subtitle(training.config());
            Path report = report(folder, subtitle, trained.reports.get(), out());
            String word = Printable.shellWord(folder);
            printMessage(
                    "report: %s%nnext:     ./saccade predict %s IMAGE%n         "
                            + " ./saccade serve %s",
                    report, word, word);
        }
        return 0;
    }

    static String subtitle(RunConfig config) {
        return Text.format("Trained on %s.", config.data().root());
    }

    private void requireRestartable() {
        if (maxRestarts < 0) {
            throw SaccadeException.user("--max-restarts %d: expected 0 or more", maxRestarts);
        }
        if (maxRestarts > 0 && !ranks.isSingleMachine()) {
            throw SaccadeException.user(
                    "--max-restarts %d: needs --nproc with all ranks on one machine;"
                            + " otherwise restart the ranks yourself with --resume",
                    maxRestarts);
        }
    }

    /** Starts ranks and returns the exit code. Does not load libtorch in this process. */
    private int startRanks(RunFolder run) {
        config.read();
        if (ranks.startsRankZero()) {
            if (resume) {
                run.requireRun();
            } else {
                run.requireEmpty();
            }
        }
        return ranks.start(spec, run.ranks(), maxRestarts, run::prepareRestart);
    }

    private Trained train(Training training, Path folder, ProcessGroup group) {
        RunConfig settings = training.config();
        // Report these errors before the slow check of all images.
        if (group.rank() == 0 && resume) {
            training.requireResumable(folder);
        } else if (group.rank() == 0) {
            new RunFolder(folder).requireEmpty();
            settings.initialWeights();
        }
        Autocast.require(settings.precision(), group.device(settings.device()));
        PrintWriter err = err();
        if (group.rank() > 0) {
            err.printf(
                    Locale.ROOT,
                    RankLog.START + "rank %d of %d, computing on %s%n",
                    group.rank(),
                    group.worldSize(),
                    Devices.local().describe(group.device(settings.device())));
            Outcome outcome = train(training, folder, resume, () -> {});
            err.println(RankLog.START + Ascii.toLowerCase(outcome.name()));
            return new Trained(outcome, Optional.empty());
        }
        DataReports reports =
                CheckCommand.requireNoErrors(
                        training, err, "the data set has errors; training did not start");
        String asBefore =
                group.worldSize() == 1 ? "" : ", on " + group.worldSize() + " ranks as before,";
        String nproc = RankLauncher.isPresent() ? " --nproc " + group.worldSize() : "";
        Runnable onInterrupt =
                () ->
                        printMessage(
                                "interrupted; continue%s with: ./saccade train %s --resume%s",
                                asBefore, Printable.shellWord(folder), nproc);
        Outcome outcome = train(training, folder, resume, onInterrupt, new TrainProgress());
        return new Trained(outcome, Optional.of(reports));
    }

    private void startFrom(String named) {
        boolean isFile = Files.exists(Path.of(named)) || InitialWeights.isPath(named);
        String weights =
                isFile ? ConvertCommand.requireCheckpoint(Path.of(named)).toString() : named;
        config.override("init_from=" + ConfigWriter.text(weights));
    }

    /** Trains until the end or Ctrl-C; after Ctrl-C, runs {@code interrupted}. */
    static Outcome train(
            Training training,
            Path folder,
            boolean resume,
            Runnable interrupted,
            Hook... progress) {
        return StopSignal.run(
                () -> {
                    Outcome outcome =
                            resume
                                    ? training.resume(folder, progress)
                                    : training.start(folder, progress);
                    if (outcome == Outcome.INTERRUPTED) {
                        interrupted.run();
                    }
                    return outcome;
                },
                training::stop);
    }

    /**
     * Evaluates the best or else the last checkpoint, prints the tables and returns the report
     * file.
     */
    static Path report(Path folder, String subtitle, DataReports reports, PrintWriter out) {
        RunConfig config = Training.config(folder);
        EvalCommand.forReport(
                        config,
                        RunEvaluation.DEFAULT_EXAMPLES,
                        file -> TrainedModel.load(file, Devices.local().choose(config.device())),
                        metrics -> metrics.tables().forEach(out::println))
                .writeMetrics(folder, config, subtitle, reports);
        out.flush();
        return RunReport.write(folder);
    }
}
