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

/** Trains a model, measures its best state and reports. */
@Command(
        name = "train",
        description = "Train a detector or segmenter on labeled photographs.",
        footer = {
            "",
            "Example:  saccade train configs/retinanet/resnet18_fpn_bccd.yaml --data data/bccd",
            "          saccade train resnet18_fpn_bccd --image-size 512x384 --epochs 24",
            "          saccade train runs/resnet18_fpn_bccd --resume",
            "          saccade train configs/retinanet/resnet18_fpn_bccd.yaml --nproc 4"
        })
final class TrainCommand extends BaseCommand {

    /** What a shell shows for a process that Ctrl-C has ended. */
    private static final int INTERRUPTED = 130;

    @Mixin private ConfigArguments config;
    @Mixin private ShortOptions words;
    @Mixin private ComputeOptions compute;
    @Mixin private RankOptions ranks;

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
            names = "--max-restarts",
            paramLabel = "K",
            defaultValue = "0",
            description =
                    "With --nproc: when a rank fails, all start again from the last checkpoint, K"
                            + " times at most; ${DEFAULT-VALUE} by default.")
    private int maxRestarts;

    @Option(
            names = "--init-from",
            paramLabel = "WEIGHTS",
            description =
                    "Start from published weights, such as swin_tiny (saccade weights lists them),"
                            + " from those of a checkpoint or of a run, or from none.")
    private Optional<String> initFrom = Optional.empty();

    /**
     * What a rank has done.
     *
     * @param reports what is known about the data sets, which rank 0 alone looks at
     */
    private record Trained(Outcome outcome, Optional<DataReports> reports) {}

    @Override
    public Integer call() {
        config.requireNoCheckpoint("--init-from starts from its weights, RUN --resume goes on");
        config.override(words);
        initFrom.ifPresent(this::startFrom);
        compute.overrides().forEach(config::override);
        requireRestartable();
        Path folder = out.or(config::run).orElse(Path.of("runs", config.name()));
        if (ranks.areToBeStarted()) {
            return startRanks(new RunFolder(folder));
        }
        Training training = config.training();
        Trained trained = ranks.together(group -> train(training.on(group), folder, group));
        if (trained.outcome == Outcome.INTERRUPTED) {
            return INTERRUPTED;
        }
        if (trained.reports.isPresent()) {
            String subtitle = subtitle(training.config());
            Path report = report(folder, subtitle, trained.reports.get(), out());
            String word = Printable.shellWord(folder);
            say(
                    "report: %s%n"
                            + "now try:  ./saccade predict %s PHOTO%n"
                            + "          ./saccade serve %s",
                    report, word, word);
        }
        return 0;
    }

    /** Returns the sentence about a run that stands on its page. */
    static String subtitle(RunConfig config) {
        return Text.format("Trained on %s.", config.data().root());
    }

    private void requireRestartable() {
        if (maxRestarts < 0) {
            throw SaccadeException.user("--max-restarts %d: expected 0 or more", maxRestarts);
        }
        if (maxRestarts > 0 && !ranks.areAllOfThisMachine()) {
            throw SaccadeException.user(
                    "--max-restarts %d: expected all ranks to be started by --nproc on one machine;"
                            + " else what starts them must start them again, with --resume",
                    maxRestarts);
        }
    }

    /** Starts ranks; what they find out by themselves is left to them, as it takes libtorch. */
    private int startRanks(RunFolder run) {
        config.read();
        if (ranks.startTheFirst()) {
            if (resume) {
                run.requireRun();
            } else {
                run.requireEmpty();
            }
        }
        return ranks.start(spec, run.ranks(), maxRestarts, run::prepareRestart);
    }

    /** Trains as one of the ranks, or alone. */
    private Trained train(Training training, Path folder, ProcessGroup group) {
        RunConfig settings = training.config();
        // What stands against it is told before all photographs are looked at.
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
        String nproc = RankLauncher.isHere() ? " --nproc " + group.worldSize() : "";
        Runnable goOn =
                () ->
                        say(
                                "interrupted; go on%s with: ./saccade train %s --resume%s",
                                asBefore, Printable.shellWord(folder), nproc);
        Outcome outcome = train(training, folder, resume, goOn, new TrainProgress());
        return new Trained(outcome, Optional.of(reports));
    }

    private void startFrom(String named) {
        boolean isFile = Files.exists(Path.of(named)) || InitialWeights.isPath(named);
        String weights =
                isFile ? ConvertCommand.requireCheckpoint(Path.of(named)).toString() : named;
        config.override("init_from=" + ConfigWriter.text(weights));
    }

    /**
     * Trains in a folder until all is done or Ctrl-C is pressed.
     *
     * @param interrupted said in the latter case, before the process ends by the signal
     */
    static Outcome train(
            Training training,
            Path folder,
            boolean resume,
            Runnable interrupted,
            Hook... progress) {
        return StopSignal.during(
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
     * Measures the best state of a run, or its last if none was the best, prints the tables and
     * writes the report.
     *
     * @param subtitle one sentence about the run
     * @param reports what is known about its data sets
     * @return the file of the report
     */
    static Path report(Path folder, String subtitle, DataReports reports, PrintWriter out) {
        RunConfig config = Training.config(folder);
        EvalCommand.forReport(
                        config,
                        RunEvaluation.EXAMPLES,
                        file -> TrainedModel.load(file, Devices.local().choose(config.device())),
                        metrics -> metrics.tables().forEach(out::println))
                .keep(folder, config, subtitle, reports);
        out.flush();
        return RunReport.write(folder);
    }
}
