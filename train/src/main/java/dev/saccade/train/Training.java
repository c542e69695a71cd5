package dev.saccade.train;

import static com.google.common.base.Preconditions.checkState;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Libtorch;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.models.Model;
import dev.saccade.train.checkpoint.Checkpointables;
import dev.saccade.train.checkpoint.ConfigChange;
import dev.saccade.train.checkpoint.RankAgreement;
import dev.saccade.train.checkpoint.RunCheckpoints;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.checkpoint.RunIdentity;
import dev.saccade.train.checkpoint.RunLayout;
import dev.saccade.train.checkpoint.RunLock;
import dev.saccade.train.checkpoint.RunState;
import dev.saccade.train.config.DataConfig;
import dev.saccade.train.config.InitialWeights;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;
import dev.saccade.train.data.DataSource;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Hooks;
import dev.saccade.train.logs.Logging;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.schedules.RunLength;

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
 * <p>Only one run at a time; others may follow, even after one that failed. {@link #stop} may be
 * called from any thread.
 */
public final class Training {

    private final RunConfig config;
    private final Map<String, DataSource> sources;
    private final ProcessGroup ranks;
    private final AtomicBoolean running = new AtomicBoolean();
    private final AtomicBoolean stopRequested = new AtomicBoolean();
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
     * Prepares runs on the data sets of a config.
     *
     * @throws SaccadeException of kind user, if the config has no training set
     */
    public static Training of(RunConfig config) {
        DataConfig data = config.data();
        return alone(
                config,
                DataSource.of(data.requireTrain(), data.root()),
                data.val().map(val -> DataSource.of(val, data.root())));
    }

    /**
     * Prepares runs on a data set of the program, without evaluation.
     *
     * @param config whose data sets are ignored
     */
    public static Training of(RunConfig config, Dataset train) {
        return alone(config.withoutDatasets(), DataSource.of(train), Optional.empty());
    }

    /**
     * Prepares runs on data sets of the program.
     *
     * @param config whose data sets are ignored
     * @param val the validation set, with the same classes
     */
    public static Training of(RunConfig config, Dataset train, Dataset val) {
        return alone(
                config.withoutDatasets(), DataSource.of(train), Optional.of(DataSource.of(val)));
    }

    /**
     * Returns the same training as one of several ranks, each of which trains in this way: together
     * they take the steps of one process with proportionally more accumulation. Only rank 0 checks
     * the data and writes the folder of the run. A rank that fails notifies the others.
     */
    public Training on(ProcessGroup group) {
        return new Training(config, sources, group);
    }

    /** Returns the config of the run. */
    public RunConfig config() {
        return config;
    }

    /**
     * Returns statistics and faults of the data sets. Runs start with this check, reading headers
     * only, unless it was called before.
     *
     * @param decode whether to decode the images, which finds damage behind the header
     * @param onImage called after each image, to show progress
     * @throws SaccadeException of kind user, if there is no folder {@code data.root}, or if the
     *     components of the model do not fit together
     */
    public DataReports check(boolean decode, Runnable onImage) {
        classes().ifPresent(config.model()::build);
        DataReports found =
                DataReports.check(
                                sources,
                                DataReports.options(config, decode, onImage)
                                        .with(config.data().trainTransformsAtSize()),
                                config.data().valTransformsAtSize())
                        .withLimits(config);
        reports = Optional.of(found).filter(all -> !all.hasErrors());
        return found;
    }

    /** Returns the classes, if the labels can be read; {@link #check} reports their faults. */
    private Optional<List<String>> classes() {
        List<String> known =
                config.data().train().map(Dataset.Config::knownClasses).orElse(List.of());
        try {
            return Optional.of(
                    known.isEmpty() ? sources.get("train").open().get().classes() : known);
        } catch (SaccadeException e) {
            return Optional.empty();
        }
    }

    /**
     * Trains from the beginning.
     *
     * @param folder an empty or missing folder
     * @param hooks act in the run besides those of the config; closed at its end
     * @throws SaccadeException if config, data or folder cannot be used, another training uses the
     *     folder, the loss diverges, memory runs out, or a hook fails
     * @throws IllegalStateException if a run is under way
     */
    public Outcome start(Path folder, Hook... hooks) {
        return run(new RunFolder(folder), hooks, false);
    }

    /**
     * Resumes an interrupted run as if it had not been interrupted. The config of this training is
     * that of the run, see {@link #config(Path)}; epochs may be higher, and settings that training
     * does not depend on may differ.
     *
     * @param folder the folder of the run
     * @param hooks act in the run besides those of the config; closed at its end
     * @throws SaccadeException if there is nothing to resume from, if another training uses the
     *     folder, or if config, data set or hooks are those of another run
     * @throws IllegalStateException if a run is under way
     */
    public Outcome resume(Path folder, Hook... hooks) {
        return run(new RunFolder(folder), hooks, true);
    }

    /**
     * Fails if {@link #resume} would refuse the config of this training.
     *
     * @param folder the folder of the run
     * @throws SaccadeException of kind user, if there is no run or the config is another one
     */
    public void requireResumable(Path folder) {
        ConfigChange.require(config(folder), config);
    }

    private List<String> requireSameRun(Path folder) {
        requireResumable(folder);
        RunConfig before = config(folder);
        boolean same =
                config.epochs() <= before.epochs()
                        && config.iterations().equals(before.iterations());
        return same
                ? List.of()
                : List.of("the run is longer now; its schedule runs to the new end");
    }

    private boolean isFirst() {
        return ranks.rank() == 0;
    }

    /**
     * Asks the current run to end after the current step, or after its first; it can be resumed
     * then. Returns at once, and does nothing if no run is under way.
     */
    public void stop() {
        stopRequested.set(true);
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

    private Outcome run(RunFolder folder, Hook[] hooks, boolean resume) {
        checkState(running.compareAndSet(false, true), "a run of this training is under way");
        stopRequested.set(false);
        try (Hooks given = new Hooks(Arrays.asList(hooks))) {
            given.requireNames();
            Supplier<Outcome> run =
                    () -> OutOfMemory.TRAINING.call(() -> run(folder, given, resume));
            Outcome outcome = ProcessGroup.with(ranks, run);
            // The last write of rank 0 may fail.
            ranks.barrier();
            return outcome;
        } catch (RuntimeException | Error e) {
            ranks.fail(String.valueOf(e.getMessage()));
            throw e;
        } finally {
            running.set(false);
        }
    }

    /** Model and data of a run. */
    private record Parts(
            NDManager manager,
            Model<?> model,
            Dataset train,
            Optional<Dataset> val,
            Optional<Validation> validation,
            List<String> notes) {}

    /** Checks folder and data, builds the model, and trains it. */
    private Outcome run(RunFolder folder, Hooks given, boolean resume) {
        boolean isNew = isFirst() && !resume;
        List<String> changes = List.of();
        if (isNew) {
            folder.requireEmpty();
        } else if (isFirst()) {
            changes = requireSameRun(folder.path());
            RunLock.requireUnlocked(folder);
        }
        Optional<InitialWeights> initial = isNew ? config.initialWeights() : Optional.empty();
        Device device = ranks.device(config.device());
        Autocast.require(config.precision(), device);
        ranks.use(device);
        if (device.isGpu() && Kernels.status().loaded()) {
            Kernels.allowTf32(config.allowTf32());
        }
        List<String> notes = new ArrayList<>();
        if (isFirst()) {
            DataReports found = reports.orElseGet(() -> check(false, () -> {}));
            found.requireSound("the data set has errors; training did not start");
            notes.addAll(found.warnings());
        }
        notes.addAll(changes);
        try (NDManager manager = Libtorch.newManager(device)) {
            Dataset train = sources.get("train").open().get();
            Optional<Dataset> val =
                    Optional.ofNullable(sources.get("val")).map(source -> source.open().get());
            Model<?> model = config.model().build(train.classes());
            Optional<Validation> validation =
                    val.map(each -> new ModelEvaluator<>(config, model, manager, ranks, each));
            model.initialize(manager, config.seed());
            if (isNew) {
                notes.addAll(InitialWeights.load(initial, config, model));
                RunFolder.create(folder.path());
            }
            Parts parts = new Parts(manager, model, train, val, validation, notes);
            Supplier<Outcome> run = () -> train(parts, folder, given, resume);
            return isFirst() ? RunLock.runLocked(folder, run) : run.get();
        }
    }

    /** Builds everything else, and trains. */
    private Outcome train(Parts parts, RunFolder folder, Hooks given, boolean resume) {
        Model<?> model = parts.model;
        DataConfig data = config.data();
        int worldSize = ranks.worldSize();
        Map<String, String> identity = RunIdentity.of(config, parts.train);
        RankAgreement.require(ranks, config, identity, parts.val);
        try (Hooks named = Hooks.build(config.hooks());
                Optimizer optimizer = config.optimizer().build(model);
                DataLoader<Batch> loader =
                        DataLoader.distributed(
                                parts.train,
                                data.trainTransformsAtSize(),
                                config.model().head().targets(),
                                data.batchSize(),
                                data.workers(),
                                config.seed(),
                                ranks,
                                model.synchronizes())) {
            named.requireNames();
            Optional<ModelEma> ema = config.ema().map(averaging -> averaging.build(model));
            RunLength length = config.length(loader.batchesPerEpoch(), worldSize);
            RunCheckpoints checkpoints =
                    new RunCheckpoints(
                            folder,
                            new Checkpointables(model, optimizer, ema, named.and(given)),
                            identity,
                            RunLayout.of(config, loader.batchesPerEpoch(), worldSize),
                            ranks);
            List<String> notes = parts.notes;
            RunState state = resume ? checkpoints.resume(notes::add) : checkpoints.start();
            TrainStep step = new TrainStep(model::losses, optimizer, ema, config, ranks);
            Hooks logs = new Hooks(List.of());
            if (isFirst()) {
                AtomicFile.write(folder.config(), ConfigWriter.yaml(Configs.unbind(config)));
                Device device = parts.manager.getDevice();
                RunSummary about = new RunSummary(config, device, parts.train, worldSize);
                notes.addAll(about.lines(state.iteration(), length));
                logs = Logging.toFiles(folder, state.iteration(), config.logInterval());
            }
            try (Hooks open = logs) {
                return new Trainer(
                                config,
                                checkpoints,
                                state,
                                step,
                                loader,
                                parts.validation,
                                open,
                                stopRequested::get)
                        .train(isFirst() ? notes : List.of());
            }
        }
    }
}
