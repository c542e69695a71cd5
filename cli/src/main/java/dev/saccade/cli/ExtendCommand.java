package dev.saccade.cli;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.cli.terminal.StopSignal;
import dev.saccade.configgen.LabeledFolder;
import dev.saccade.core.Checks;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.Printable;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskCancelledException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.TaskProgress;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.train.Training;
import dev.saccade.train.data.DataReports;
import dev.saccade.train.extend.ClassExtension;
import dev.saccade.train.extend.ExtensionReport;
import dev.saccade.train.extend.ExtensionSettings;
import dev.saccade.train.extend.NewData;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

@Command(
        name = "extend",
        description = {
            "Add classes to a trained detector. New images need labels of the new classes only.",
            "The detector adds objects of the old classes to the labels of the new images. Writes"
                    + " a new run if the AP of each old class drops by at most --max-drop on the"
                    + " validation set of RUN; otherwise the exit code is 2."
        },
        footer = {
            "",
            "Example:  saccade extend runs/tools --data photos/wrenches",
            "          saccade extend runs/tools --data photos/wrenches --replay 0"
        })
final class ExtendCommand extends BaseCommand {

    /** Exit code of a process that was ended by Ctrl-C. */
    private static final int INTERRUPTED = 130;

    @Parameters(
            index = "0",
            paramLabel = "RUN",
            description = "Extend the detector of this run, which is not changed.")
    private Path run;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            required = true,
            description =
                    "Read new images and COCO annotations, for training and validation, from this"
                            + " folder.")
    private Path data;

    @Option(
            names = "--replay",
            paramLabel = "N",
            defaultValue = "50",
            description =
                    "Store at most N training images of RUN in the new run and train on them"
                            + " again; 0 stores none. Default: ${DEFAULT-VALUE}.")
    private int replay;

    @Option(
            names = "--max-drop",
            paramLabel = "AP",
            defaultValue = "0.01",
            description =
                    "Allow the AP of each old class to drop by this value, from 0 to 1. Default:"
                            + " ${DEFAULT-VALUE}.")
    private double maxDrop;

    @Option(
            names = "--epochs",
            paramLabel = "N",
            description =
                    "Set the number of epochs of each training. Default: as many steps in total"
                            + " as RUN, and at most 100 epochs.")
    private Optional<Integer> epochs = Optional.empty();

    @Option(
            names = "--disjoint",
            description =
                    "Assume that training images of RUN contain no objects of new classes; train"
                            + " only once.")
    private boolean disjoint;

    @Option(
            names = "--incomplete",
            description =
                    "Add predicted objects also of old classes that the new data labels. Default:"
                            + " assume that all their objects are labeled.")
    private boolean incomplete;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Write the new run to this folder. Default: RUN_extended.")
    private Optional<Path> out = Optional.empty();

    @Mixin private OverwriteOption overwrite;

    @Override
    public Integer call() {
        ExtensionSettings settings = settings();
        PathKind.require(run, "the folder of a run", PathKind.RUN);
        Path folder =
                out.orElseGet(
                        () -> {
                            Path name = run.toAbsolutePath().normalize().getFileName();
                            return run.resolve("..").resolve(name + "_extended").normalize();
                        });
        ClassExtension extension = new ClassExtension(run, newData(), settings, Progress::println);
        ExtensionReport report;
        Bars bars = new Bars();
        TaskMonitor monitor = new TaskMonitor(bars::show);
        try {
            report =
                    StopSignal.run(() -> extend(extension, folder, bars, monitor), monitor::cancel);
        } catch (TaskCancelledException e) {
            return INTERRUPTED;
        }
        Training training = Training.of(Training.config(folder));
        DataReports reports =
                CheckCommand.requireNoErrors(training, err(), "the extended data has errors");
        Path page = TrainCommand.report(folder, "Extended from " + run + ".", reports, out());
        out().println(report.classes());
        String word = Printable.shellWord(folder);
        printMessage(
                "report: %s%nnext:     ./saccade predict %s IMAGE%n          ./saccade serve %s",
                page, word, word);
        return 0;
    }

    /** Extends the run. On a signal, deletes the files before the process can end. */
    private ExtensionReport extend(
            ClassExtension extension, Path folder, Bars bars, TaskMonitor monitor) {
        try (bars;
                OutputFolder files = overwrite.create(folder, List.of(run, data))) {
            return extension.run(files, folder, monitor);
        } catch (TaskCancelledException e) {
            printMessage("interrupted; no run was written");
            throw e;
        }
    }

    private ExtensionSettings settings() {
        try {
            return new ExtensionSettings(replay, maxDrop, epochs, disjoint, incomplete);
        } catch (Checks.InvalidSettings e) {
            Problems problems = new Problems();
            problems.addAll(e.problems());
            throw SaccadeException.user("extend:%s", problems)
                    .withSettings("replay", "max-drop", "epochs");
        }
    }

    private NewData newData() {
        LabeledFolder found = LabeledFolder.find(data).orElseThrow(() -> NewCommand.refuse(data));
        Optional<CocoDataset.Config> train = coco(Optional.of(found.train()));
        Optional<CocoDataset.Config> val = coco(found.val());
        if (train.isEmpty()) {
            throw SaccadeException.user(
                    "%s: has no labeled objects; expected COCO annotations", data);
        }
        if (val.isEmpty()) {
            throw SaccadeException.user(
                    "%s: has no validation set, which the AP of the new classes needs; split it"
                            + " with: %s",
                    data, ConvertibleFolder.splitCommand(data));
        }
        return new NewData(data, train.get(), val.get());
    }

    private static Optional<CocoDataset.Config> coco(Optional<? extends Dataset.Config> part) {
        return part.filter(CocoDataset.Config.class::isInstance)
                .map(CocoDataset.Config.class::cast);
    }

    /** Shows a progress bar per task. */
    private static final class Bars implements AutoCloseable {

        private Optional<Progress> bar = Optional.empty();
        private String task = "";
        private long done;

        void show(TaskProgress progress) {
            if (!progress.task().equals(task) || progress.done() < done) {
                close();
                bar =
                        Optional.of(
                                new Progress(
                                        progress.task(), progress.total(), " " + progress.unit()));
                task = progress.task();
            }
            done = progress.done();
            bar.ifPresent(shown -> shown.to(done));
        }

        @Override
        public void close() {
            bar.ifPresent(Progress::close);
            bar = Optional.empty();
            task = "";
        }
    }
}
