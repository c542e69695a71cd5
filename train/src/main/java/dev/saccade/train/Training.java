package dev.saccade.train;

import static com.google.common.base.Preconditions.checkState;

import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.train.config.DataConfig;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.logs.Listeners;
import dev.saccade.train.logs.TrainListener;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Trains a model from a config to a folder with logs and checkpoints.
 *
 * <pre>{@code
 * Training training = Training.of(RunConfig.load(file));
 * training.start(Path.of("runs/cells"));
 * }</pre>
 *
 * <p>One run is under way at a time; others may follow, also after one that failed. {@link #stop}
 * may be called in any thread.
 */
public final class Training {

    private final RunConfig config;
    private final Map<String, DataSource> sources;
    private final AtomicBoolean underWay = new AtomicBoolean();
    private volatile boolean stopRequested;
    private volatile Optional<Trainer> trainer = Optional.empty();
    private Optional<DataReports> reports = Optional.empty();

    private Training(RunConfig config, DataSource train, Optional<DataSource> val) {
        this.config = config;
        ImmutableMap.Builder<String, DataSource> byRole = ImmutableMap.builder();
        byRole.put("train", train);
        val.ifPresent(other -> byRole.put("val", other));
        sources = byRole.buildOrThrow();
    }

    /**
     * Prepares runs on the data sets that a config names.
     *
     * @throws SaccadeException of kind user, if it names none to learn from
     */
    public static Training of(RunConfig config) {
        DataConfig data = config.data();
        return new Training(
                config,
                DataSource.of(data.requireTrain(), data.root()),
                data.val().map(val -> DataSource.of(val, data.root())));
    }

    /**
     * Prepares runs on a data set of the program's own, without evaluation.
     *
     * @param config how to learn; data sets that it names do not count
     * @param train what is learned from
     */
    public static Training of(RunConfig config, Dataset train) {
        return new Training(config.withoutDatasets(), DataSource.of(train), Optional.empty());
    }

    /**
     * Prepares runs on data sets of the program's own.
     *
     * @param config how to learn; data sets that it names do not count
     * @param train what is learned from
     * @param val what is measured on, with the same classes
     */
    public static Training of(RunConfig config, Dataset train, Dataset val) {
        return new Training(
                config.withoutDatasets(), DataSource.of(train), Optional.of(DataSource.of(val)));
    }

    /** Returns how it learns. */
    public RunConfig config() {
        return config;
    }

    /**
     * Returns what the data sets hold and all that is wrong with them. Runs begin with it, reading
     * headers alone, unless it was asked for before.
     *
     * @param decode whether photographs are decoded, which finds damage behind the header
     * @param onPhoto called after each photograph, to show progress
     * @throws SaccadeException of kind user, if there is no folder {@code data.root}
     */
    public DataReports check(boolean decode, Runnable onPhoto) {
        DataReports found = DataReports.of(sources, options(config, decode, onPhoto));
        reports = Optional.of(found).filter(all -> !all.hasErrors());
        return found;
    }

    /**
     * Returns the data set that a run is measured on, held to the check that runs begin with.
     *
     * @param config of the run
     * @throws SaccadeException of kind user, if the config names none, or if it has errors; lists
     *     the first of them
     */
    public static Dataset measured(RunConfig config) {
        DataConfig data = config.data();
        DataSource val =
                data.val()
                        .map(named -> DataSource.of(named, data.root()))
                        .orElseThrow(
                                () ->
                                        SaccadeException.user(
                                                "the config of the run names no data.val to measure"
                                                        + " on"));
        DataReports.of(Map.of("val", val), options(config, false, () -> {}))
                .requireSound("the data set has errors; nothing was measured");
        return val.open().get();
    }

    private static CheckOptions options(RunConfig config, boolean decode, Runnable onPhoto) {
        return new CheckOptions(
                decode, config.model().head().targets(), config.data().workers(), onPhoto);
    }

    /**
     * Trains from the beginning.
     *
     * @param folder a folder that is empty or not there
     * @param listeners hear of everything besides the logs of the run; closed at its end
     * @throws SaccadeException if config, data or folder cannot be used, another training is under
     *     way in the folder, learning diverges, or memory runs out
     * @throws IllegalStateException if a run is under way
     */
    public Outcome start(Path folder, TrainListener... listeners) {
        return during(
                listeners,
                heard -> {
                    RunFolder target = new RunFolder(folder);
                    target.requireFree();
                    return run(target, List.of(), run -> run.start(heard, this::begin));
                });
    }

    /**
     * Goes on with a run that was interrupted, as if it had not been. The config of this training
     * is that of the run, see {@link #config(Path)}; epochs may have risen, and what does not touch
     * learning may have changed.
     *
     * @param folder the folder of the run
     * @param listeners hear of everything besides the logs of the run; closed at its end
     * @throws SaccadeException if there is nothing to resume from, if another training is under way
     *     in the folder, or if config or data set have changed in a way that would make it another
     *     run
     * @throws IllegalStateException if a run is under way
     */
    public Outcome resume(Path folder, TrainListener... listeners) {
        return during(
                listeners,
                heard -> {
                    RunConfig before = config(folder);
                    ConfigChange.require(before, config);
                    boolean longer =
                            config.epochs() > before.epochs()
                                    || !config.iterations().equals(before.iterations());
                    List<String> notes =
                            longer
                                    ? List.of(
                                            "the run is longer now; its schedule runs to the new"
                                                    + " end")
                                    : List.of();
                    RunFolder target = new RunFolder(folder);
                    return RunLock.during(
                            target,
                            () -> run(target, notes, run -> run.resume(heard, this::begin)));
                });
    }

    /**
     * Asks the run that is under way to end after the step that is being taken, or after its first;
     * it can be resumed then. Returns at once, and does nothing if no run is under way.
     */
    public void stop() {
        stopRequested = true;
        trainer.ifPresent(Trainer::stop);
    }

    /**
     * Returns the config of a run.
     *
     * @param folder the folder of the run
     */
    public static RunConfig config(Path folder) {
        Path file = new RunFolder(folder).config();
        if (!Files.isRegularFile(file)) {
            throw SaccadeException.user("%s: no run, it has no %s", folder, file.getFileName());
        }
        return RunConfig.load(file);
    }

    /** Does the work of one run. */
    private interface Work<T> {
        Outcome of(T with);
    }

    private Outcome during(TrainListener[] listeners, Work<TrainListener> work) {
        checkState(underWay.compareAndSet(false, true), "a run of this training is under way");
        stopRequested = false;
        try (TrainListener heard = new Listeners(List.of(listeners))) {
            return OutOfMemory.IN_TRAINING.told(() -> work.of(heard));
        } finally {
            trainer = Optional.empty();
            underWay.set(false);
        }
    }

    private Outcome run(RunFolder folder, List<String> notes, Work<Run> work) {
        DataReports found = reports.orElseGet(() -> check(false, () -> {}));
        found.requireSound("the data set has errors; nothing was trained");
        List<String> toSay = new ArrayList<>(found.warnings());
        toSay.addAll(notes);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Dataset train = sources.get("train").open().get();
            Optional<Dataset> val =
                    Optional.ofNullable(sources.get("val")).map(source -> source.open().get());
            return work.of(new Run(manager, config, folder, train, val, toSay));
        }
    }

    private void begin(Trainer begun) {
        trainer = Optional.of(begun);
        if (stopRequested) {
            begun.stop();
        }
    }
}
