package dev.saccade.train;

import static com.google.common.base.Preconditions.checkState;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Libtorch;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.models.Model;
import dev.saccade.train.config.DataConfig;
import dev.saccade.train.config.InitialWeights;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Hooks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

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
    private final ProcessGroup ranks;
    private Optional<DataReports> reports = Optional.empty();

    private Training(RunConfig config, Map<String, DataSource> sources, ProcessGroup ranks) {
        this.config = config;
        this.sources = sources;
        this.ranks = ranks;
    }

    private static Training alone(RunConfig config, DataSource train, Optional<DataSource> val) {
        ImmutableMap.Builder<String, DataSource> byRole = ImmutableMap.builder();
        byRole.put("train", train);
        val.ifPresent(other -> byRole.put("val", other));
        return new Training(config, byRole.buildOrThrow(), ProcessGroup.alone());
    }

    /**
     * Prepares runs on the data sets that a config names.
     *
     * @throws SaccadeException of kind user, if it names none to learn from
     */
    public static Training of(RunConfig config) {
        DataConfig data = config.data();
        return alone(
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
        return alone(config.withoutDatasets(), DataSource.of(train), Optional.empty());
    }

    /**
     * Prepares runs on data sets of the program's own.
     *
     * @param config how to learn; data sets that it names do not count
     * @param train what is learned from
     * @param val what is measured on, with the same classes
     */
    public static Training of(RunConfig config, Dataset train, Dataset val) {
        return alone(
                config.withoutDatasets(), DataSource.of(train), Optional.of(DataSource.of(val)));
    }

    /**
     * Returns the same training as one of several ranks, each of which trains in this way: they
     * take together the steps that one process takes with as many times the accumulation. Rank 0
     * alone checks the data and writes the folder of the run. A rank that fails tells the others.
     */
    public Training on(ProcessGroup group) {
        return new Training(config, sources, group);
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
     * @throws SaccadeException of kind user, if there is no folder {@code data.root}, or if parts
     *     of the model do not fit together, which is found before any photograph is looked at
     */
    public DataReports check(boolean decode, Runnable onPhoto) {
        classes().ifPresent(config.model()::build);
        DataReports found =
                DataReports.check(
                                sources,
                                options(config, decode, onPhoto)
                                        .with(config.data().trainTransformsAtSize()),
                                config.data().valTransformsAtSize())
                        .withLimits(config);
        reports = Optional.of(found).filter(all -> !all.hasErrors());
        return found;
    }

    /** Returns the classes, if the labels are sound enough to tell. */
    private Optional<List<String>> classes() {
        List<String> known =
                config.data().train().map(Dataset.Config::knownClasses).orElse(List.of());
        try {
            return Optional.of(
                    known.isEmpty() ? sources.get("train").open().get().classes() : known);
        } catch (SaccadeException e) {
            // The check tells all that is wrong with them.
            return Optional.empty();
        }
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
                                                        + " on; name it in its config.yaml"));
        DataReports.check(Map.of("val", val), options(config, false, () -> {}), List.of())
                .requireSound("the data set has errors; nothing was measured");
        return val.open().get();
    }

    private static CheckOptions options(RunConfig config, boolean decode, Runnable onPhoto) {
        return new CheckOptions(decode, config.model().head(), config.data().workers(), onPhoto);
    }

    /**
     * Trains from the beginning.
     *
     * @param folder a folder that is empty or not there
     * @param hooks act in the run besides those that the config names; closed at its end
     * @throws SaccadeException if config, data or folder cannot be used, another training is under
     *     way in the folder, learning diverges, memory runs out, or a hook fails
     * @throws IllegalStateException if a run is under way
     */
    public Outcome start(Path folder, Hook... hooks) {
        RunFolder target = new RunFolder(folder);
        return during(
                hooks,
                given -> {
                    if (isFirst()) {
                        target.requireFree();
                    }
                    Optional<InitialWeights> initial =
                            isFirst() ? config.initialWeights() : Optional.empty();
                    return withModel(
                            List.of(),
                            task -> {
                                if (isFirst()) {
                                    task.initializeFrom(initial);
                                    RunFolder.create(folder);
                                }
                                return locked(
                                        target,
                                        () -> task.run(target, given, false, this::isStopped));
                            });
                });
    }

    /**
     * Goes on with a run that was interrupted, as if it had not been. The config of this training
     * is that of the run, see {@link #config(Path)}; epochs may have risen, and what does not touch
     * learning may have changed.
     *
     * @param folder the folder of the run
     * @param hooks act in the run besides those that the config names; closed at its end
     * @throws SaccadeException if there is nothing to resume from, if another training is under way
     *     in the folder, or if config, data set or hooks have changed in a way that would make it
     *     another run
     * @throws IllegalStateException if a run is under way
     */
    public Outcome resume(Path folder, Hook... hooks) {
        RunFolder target = new RunFolder(folder);
        return during(
                hooks,
                given -> {
                    List<String> notes = isFirst() ? requireSameRun(folder) : List.of();
                    return locked(
                            target,
                            () ->
                                    withModel(
                                            notes,
                                            task ->
                                                    task.run(
                                                            target, given, true, this::isStopped)));
                });
    }

    /**
     * Refuses to go on with a run that is another one by its config, before anything is done, as
     * {@link #resume} does.
     *
     * @param folder the folder of the run
     * @throws SaccadeException of kind user, if there is no run or the config is another one
     */
    public void requireResumable(Path folder) {
        ConfigChange.require(config(folder), config);
    }

    /** Returns what is to be noted of a run that is resumed. */
    private List<String> requireSameRun(Path folder) {
        requireResumable(folder);
        RunConfig before = config(folder);
        boolean longer =
                config.epochs() > before.epochs()
                        || !config.iterations().equals(before.iterations());
        return longer
                ? List.of("the run is longer now; its schedule runs to the new end")
                : List.of();
    }

    private Outcome locked(RunFolder folder, Supplier<Outcome> run) {
        return isFirst() ? RunLock.during(folder, run) : run.get();
    }

    /** Returns whether this is the rank that writes, as the only one does. */
    private boolean isFirst() {
        return ranks.rank() == 0;
    }

    /**
     * Asks the run that is under way to end after the step that is being taken, or after its first;
     * it can be resumed then. Returns at once, and does nothing if no run is under way.
     */
    public void stop() {
        stopRequested = true;
    }

    /**
     * Returns the config of a run.
     *
     * @param folder the folder of the run
     */
    public static RunConfig config(Path folder) {
        RunFolder run = new RunFolder(folder);
        run.requireRun();
        return RunConfig.load(run.config());
    }

    private boolean isStopped() {
        return stopRequested;
    }

    /** Does the work of one run. */
    private interface Work<T> {
        Outcome of(T with);
    }

    private Outcome during(Hook[] hooks, Work<Hooks> work) {
        checkState(underWay.compareAndSet(false, true), "a run of this training is under way");
        stopRequested = false;
        try (Hooks given = new Hooks(Arrays.asList(hooks))) {
            given.requireNames();
            Outcome outcome =
                    ProcessGroup.during(
                            ranks, () -> OutOfMemory.IN_TRAINING.told(() -> work.of(given)));
            // What rank 0 writes last may fail.
            ranks.barrier();
            return outcome;
        } catch (RuntimeException | Error e) {
            ranks.fail(String.valueOf(e.getMessage()));
            throw e;
        } finally {
            underWay.set(false);
        }
    }

    /** Checks the data and makes the model. */
    private Outcome withModel(List<String> notes, Work<RunTask> work) {
        Device device = ranks.device(config.device());
        Autocast.require(config.precision(), device);
        ranks.use(device);
        if (device.isGpu() && Kernels.status().loaded()) {
            Kernels.allowTf32(config.allowTf32());
        }
        List<String> all = new ArrayList<>();
        if (isFirst()) {
            DataReports found = reports.orElseGet(() -> check(false, () -> {}));
            found.requireSound("the data set has errors; nothing was trained");
            all.addAll(found.warnings());
        }
        all.addAll(notes);
        try (NDManager manager = Libtorch.newManager(device)) {
            Dataset train = sources.get("train").open().get();
            Optional<Dataset> val =
                    Optional.ofNullable(sources.get("val")).map(source -> source.open().get());
            Model<?> model = config.model().build(train.classes());
            RunTask task = new RunTask(config, ranks, manager, model, train, val, all);
            model.initialize(manager, config.seed());
            return work.of(task);
        }
    }
}
