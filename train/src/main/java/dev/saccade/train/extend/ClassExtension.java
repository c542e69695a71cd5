package dev.saccade.train.extend;

import com.google.common.collect.Sets;
import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.core.Count;
import dev.saccade.core.Devices;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskCancelledException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.Text;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetSubset;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.models.Detector;
import dev.saccade.train.Outcome;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.extend.ExtensionReport.Additions;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Adds classes to the detector of a run. New images need labels of the new classes only.
 *
 * <p>The run's detector adds objects of the old classes to the labels of the new images. The
 * extended detector starts from the weights of the run. It is trained on the new images, adds
 * objects of the new classes to the labels of stored images of the run, and is then trained on
 * both. Finally, {@link WeightSelection} limits the loss of AP of old classes.
 *
 * <pre>{@code
 * NewData data = new NewData(root, train, val);
 * ExtensionSettings settings = Configs.of(ExtensionSettings.class, "replay=20");
 * new ClassExtension(run, data, settings, System.out::println).run(Path.of("runs/extended"));
 * }</pre>
 */
public final class ClassExtension {

    private static final double UNRELIABLE_AP = 0.1;

    private static final String FIRST = "first";
    private static final String TRAINING = "training";

    private final Path run;
    private final NewData data;
    private final ExtensionSettings settings;
    private final Consumer<String> log;

    /**
     * Prepares an extension.
     *
     * @param run folder of the run with a trained detector and a validation set; is not changed
     * @param log receives lines for the user
     */
    public ClassExtension(
            Path run, NewData data, ExtensionSettings settings, Consumer<String> log) {
        this.run = run;
        this.data = data;
        this.settings = settings;
        this.log = log;
    }

    /** An extension in progress. */
    private record Work(SourceRun source, OutputFolder folder, TaskMonitor monitor) {

        Path file(String name) {
            return folder.resolve(name);
        }

        Detector load(Path checkpoint) {
            return Detector.load(checkpoint, Devices.local().choose(source.config().device()));
        }

        Predictions predict(Detector detector, Dataset images, String task) {
            return Predictions.of(
                    detector, images, source.config().data().workers(), task, monitor);
        }
    }

    /** Extends the run; see {@link #run(OutputFolder, Path, TaskMonitor)}. */
    public ExtensionReport run(Path out) {
        try (OutputFolder folder = OutputFolder.create(out, "extend", false, List.of(run))) {
            return run(folder, out, new TaskMonitor(progress -> {}));
        }
    }

    /**
     * Extends the run, and finishes the folder.
     *
     * @param out final path of {@code folder}, the new run
     * @throws SaccadeException of kind user, if the run or data cannot be used, or an old class
     *     loses too much AP; the folder is not written then
     * @throws TaskCancelledException if the monitor is cancelled
     */
    public ExtensionReport run(OutputFolder folder, Path out, TaskMonitor monitor) {
        SourceRun source = SourceRun.open(run, settings.replay() > 0);
        Work work = new Work(source, folder, monitor);
        ExtendedData extended;
        DetectionEvaluation before;
        Additions newImages;
        try (Detector detector = work.load(source.weights())) {
            List<String> oldClasses = detector.classes();
            source.requireClasses(oldClasses);
            NewData.Opened opened = data.open(source.config(), oldClasses);
            ExtendedData all =
                    new ExtendedData(
                            source.config().data(),
                            data,
                            oldClasses,
                            opened.classes(),
                            complete(opened.evaluated(), oldClasses),
                            opened.train().size(),
                            0);
            describe(all, opened);
            source.warnings(opened.train()).forEach(line -> log.accept("warning: " + line));
            before =
                    work.predict(detector, source.val(), "evaluate")
                            .evaluate(source.val(), source.config());
            warnOfWeakClasses(before);
            CompletedImages completed =
                    complete(
                            work,
                            detector,
                            opened.train(),
                            opened.train().fileNames(),
                            new LabelCompletion(
                                    all.classes(),
                                    Sets.difference(
                                            Set.copyOf(oldClasses),
                                            complete(opened.labeled(), oldClasses)),
                                    detector.scoreThresholds()),
                            "new image");
            completed.write(folder, ExtendedData.LABELS);
            newImages = completed.additions();
            extended = all.with(newImages.images(), 0);
        }
        ReplayImages stored = new ReplayImages(folder, source.config().data().pixels());
        Additions replayed = Additions.NONE;
        if (source.train().isPresent()) {
            replayed = replay(work, extended, source.train().get(), stored);
        }
        extended = extended.with(newImages.images(), replayed.images());
        if (trainings() == 1) {
            train(work, source.weights(), extended, TRAINING);
        } else {
            Path first = work.file(FIRST);
            train(work, new RunFolder(first).best(), extended, TRAINING);
            delete(first);
        }
        RunFolder trained = new RunFolder(work.file(TRAINING));
        WeightSelection.Candidate chosen =
                new WeightSelection(
                                source.config(),
                                extended,
                                source.val(),
                                before,
                                settings.maxDrop(),
                                monitor,
                                log)
                        .select(
                                source.weights(),
                                trained.best(),
                                work.file("candidate.safetensors"));
        if (settings.replay() > 0) {
            stored.storeNext(
                    extended.train(work.file("")).open(ExtendedData.ROOT), settings.replay());
            log.accept(Text.format("the run stores images of %.1f MB", stored.bytes() / 1e6));
        }
        ExtensionReport report =
                new ExtensionReport(
                        chosen.classes(),
                        settings.maxDrop(),
                        chosen.trainedWeight(),
                        trainings(),
                        newImages,
                        replayed,
                        stored.bytes());
        SafeTensors.write(trained.bestWeights(), chosen.checkpoint());
        AtomicFile.write(trained.config(), config(work, source.weights(), extended, out).toYaml());
        finish(work, trained, report);
        return report;
    }

    /** Warns of old classes whose AP is unknown, or too low for reliable predicted labels. */
    private void warnOfWeakClasses(DetectionEvaluation before) {
        for (ClassAp each : ClassAp.of(before.metrics().get(0))) {
            if (each.after().isEmpty()) {
                log.accept(
                        Printable.format(
                                "warning: class %s has no objects in the validation set of the run,"
                                        + " so its AP is not checked",
                                each.name()));
            } else if (each.after().get() < UNRELIABLE_AP) {
                log.accept(
                        Printable.format(
                                "warning: class %s has AP %.3f, so its predicted labels are"
                                        + " unreliable; train the run longer, or label the class in"
                                        + " the new images, too",
                                each.name(), each.after().get()));
            }
        }
    }

    /** Returns the labeled classes of which all objects are labeled. */
    private Set<String> complete(Set<String> labeled, List<String> oldClasses) {
        return settings.incomplete() ? Sets.difference(labeled, Set.copyOf(oldClasses)) : labeled;
    }

    private void describe(ExtendedData all, NewData.Opened opened) {
        log.accept(
                Printable.format(
                        "new classes: %s; old classes: %s",
                        String.join(", ", all.newClasses()), String.join(", ", all.oldClasses())));
        opened.notes().forEach(log);
        Set<String> both = Sets.intersection(opened.labeled(), Set.copyOf(all.oldClasses()));
        if (!both.isEmpty()) {
            log.accept(
                    Printable.format(
                            "old classes in the new labels: %s; %s",
                            String.join(", ", both),
                            settings.incomplete()
                                    ? "predictions complete them"
                                    : "all their objects are assumed to be labeled; if not, set"
                                            + " incomplete"));
        }
    }

    private CompletedImages complete(
            Work work,
            Detector detector,
            Dataset images,
            List<String> names,
            LabelCompletion completion,
            String noun) {
        CompletedImages completed =
                CompletedImages.of(
                        images,
                        names,
                        completion,
                        work.predict(detector, images, "predict"),
                        detector.classes());
        Additions additions = completed.additions();
        log.accept(
                Text.format(
                        "added %s and %s to the labels of %s",
                        Count.of(additions.objects(), "predicted object"),
                        Count.of(additions.ignored(), "ignored region"),
                        Count.of(additions.images(), noun)));
        if (additions.leftOut() > 0) {
            log.accept(
                    Text.format(
                            "left out %s without labeled objects",
                            Count.of(additions.leftOut(), noun)));
        }
        return completed;
    }

    /** Stores images of the run, and adds objects of the new classes to their labels. */
    private Additions replay(
            Work work, ExtendedData extended, Dataset source, ReplayImages stored) {
        Dataset images =
                DatasetSubset.of(source, ReplaySelection.select(source, settings.replay()));
        List<String> names = stored.add(images);
        CompletedImages completed;
        if (settings.disjoint()) {
            completed = CompletedImages.complete(images, names, extended.classes());
        } else {
            train(work, work.source.weights(), extended, FIRST);
            try (Detector detector = work.load(new RunFolder(work.file(FIRST)).best())) {
                completed =
                        complete(
                                work,
                                detector,
                                images,
                                names,
                                new LabelCompletion(
                                        extended.classes(),
                                        Set.copyOf(extended.newClasses()),
                                        detector.scoreThresholds()),
                                "replayed image");
            }
        }
        completed.write(work.folder, ReplayImages.LABELS);
        return completed.additions();
    }

    private RunConfig config(Work work, Path weights, ExtendedData extended, Path folder) {
        return new ExtendedConfig(work.source.config(), weights)
                .of(extended, folder, work.source.steps() / trainings(), settings.epochs());
    }

    /** Returns the number of trainings; they share the optimizer steps. */
    private int trainings() {
        return settings.replay() == 0 || settings.disjoint() ? 1 : 2;
    }

    private void train(Work work, Path weights, ExtendedData extended, String name) {
        RunConfig config = config(work, weights, extended, work.file(""));
        log.accept(
                Text.format(
                        "training %d of %d: %s, %s%s, learning rate %s",
                        name.equals(FIRST) ? 1 : trainings(),
                        trainings(),
                        Count.of(config.epochs(), "epoch"),
                        Count.of(extended.newImages(), "new image"),
                        extended.replayedImages() == 0
                                ? ""
                                : " and " + Count.of(extended.replayedImages(), "replayed image"),
                        config.optimizer().learningRate()));
        Outcome outcome = Training.of(config).with(work.monitor).start(work.file(name));
        if (outcome == Outcome.INTERRUPTED) {
            throw new TaskCancelledException();
        }
    }

    /** Moves the files of the training into the run, and gives the run its final name. */
    private static void finish(Work work, RunFolder trained, ExtensionReport report) {
        try {
            // A resumed training would not keep the AP of the old classes.
            Files.deleteIfExists(trained.last());
            Files.deleteIfExists(trained.previous());
            try (Stream<Path> files = Files.list(trained.path())) {
                for (Path file : files.toList()) {
                    Files.move(file, work.file(file.getFileName().toString()));
                }
            }
            Files.delete(trained.path());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be moved: %s", trained.path(), e.getMessage());
        }
        work.folder.write(ExtensionReport.FILE, report.toJson());
        work.folder.finish();
    }

    private static void delete(Path folder) {
        try {
            MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be deleted: %s", folder, e.getMessage());
        }
    }
}
