package dev.saccade.train;

import static com.google.common.base.Preconditions.checkState;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.Libtorch;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.models.Model;
import dev.saccade.models.Provenance;
import dev.saccade.train.checkpoint.Checkpointables;
import dev.saccade.train.checkpoint.ConfigChange;
import dev.saccade.train.checkpoint.RankAgreement;
import dev.saccade.train.checkpoint.RunCheckpoints;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.checkpoint.RunFork;
import dev.saccade.train.checkpoint.RunIdentity;
import dev.saccade.train.checkpoint.RunLayout;
import dev.saccade.train.checkpoint.RunLock;
import dev.saccade.train.checkpoint.RunProvenance;
import dev.saccade.train.checkpoint.RunState;
import dev.saccade.train.config.DataConfig;
import dev.saccade.train.config.InitialWeights;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;
import dev.saccade.train.data.DataSource;
import dev.saccade.train.hooks.EvaluationReport;
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
 * Trains the model of a config; writes logs and checkpoints to a folder.
 *
 * <pre>{@code
 * Training training = Training.of(RunConfig.load(file));
 * training.start(Path.of("runs/cells"));
 * }</pre>
 *
 * <p>An instance runs one training at a time. {@link #stop} may be called from any thread.
 */
public final class Training {

    private final RunConfig config;
    private final Map<String, DataSource> sources;
    private final ProcessGroup ranks;
    private final TaskMonitor monitor;
    private final AtomicBoolean running = new AtomicBoolean();
    private final AtomicBoolean stopRequested = new AtomicBoolean();
    private Optional<DataReports> reports = Optional.empty();
    private volatile RunObserver observer;

    private Training(
            RunConfig config,
            Map<String, DataSource> sources,
            ProcessGroup ranks,
            TaskMonitor monitor) {
        this.config = config;
        this.sources = sources;
        this.ranks = ranks;
        this.monitor = monitor;
        this.observer = new RunObserver(monitor);
    }

    private static Training alone(RunConfig config, DataSource train, Optional<DataSource> val) {
        ImmutableMap.Builder<String, DataSource> byRole = ImmutableMap.builder();
        byRole.put("train", train);
        val.ifPresent(other -> byRole.put("val", other));
        return new Training(
                config,
                byRole.buildOrThrow(),
                ProcessGroup.alone(),
                new TaskMonitor(progress -> {}));
    }

    /** Prepares training on the data sets of a config. */
    public static Training of(RunConfig config) {
        DataConfig data = config.data();
        return alone(
                config,
                DataSource.of(data.requireTrain(), data.root()),
                data.val().map(val -> DataSource.of(val, data.root())));
    }

    /**
     * Prepares training on a data set of the caller, without evaluation. Ignores the config's data
     * sets.
     */
    public static Training of(RunConfig config, Dataset train) {
        return alone(config.withoutDatasets(), DataSource.of(train), Optional.empty());
    }

    /**
     * Prepares training on data sets of the caller, with the same classes. Ignores the config's
     * data sets.
     */
    public static Training of(RunConfig config, Dataset train, Dataset val) {
        return alone(
                config.withoutDatasets(), DataSource.of(train), Optional.of(DataSource.of(val)));
    }

    /**
     * Returns this training as one rank of a group. N ranks train like one process with N times the
     * accumulation. Only rank 0 checks the data and writes to the run folder.
     */
    public Training on(ProcessGroup group) {
        return new Training(config, sources, group, monitor);
    }

    /**
     * Returns this training with a monitor of its steps. Cancelling the monitor stops it like
     * {@link #stop}.
     */
    public Training with(TaskMonitor other) {
        return new Training(config, sources, ranks, other);
    }

    public RunConfig config() {
        return config;
    }

    /**
     * Checks the data sets. Runs start with this check, reading only image headers, unless an
     * earlier call found no errors.
     *
     * @param decode whether to decode the images, which also finds damaged pixel data
     * @param onImage called after each image, to show progress
     * @throws SaccadeException of kind user, if {@code data.root} is missing, or the components of
     *     the model do not fit together
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

    /** Returns the classes if the labels are readable; {@link #check} reports errors. */
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
     * @param folder empty or missing
     * @param hooks called after the config's hooks; closed at the end
     * @throws SaccadeException if config, data or folder cannot be used, another training uses the
     *     folder, the loss diverges, memory runs out, or a hook fails
     * @throws IllegalStateException if this training is already running
     */
    public Outcome start(Path folder, Hook... hooks) {
        return run(new RunFolder(folder), hooks, false);
    }

    /**
     * Resumes an interrupted run. Load its config with {@link #config(Path)}; epochs may be
     * increased, and settings that do not affect training may be changed.
     *
     * @param hooks called after the config's hooks; closed at the end
     * @throws SaccadeException if the run has no checkpoint, another training uses the folder, or
     *     config, data set or hooks differ from the run
     * @throws IllegalStateException if this training is already running
     */
    public Outcome resume(Path folder, Hook... hooks) {
        return run(new RunFolder(folder), hooks, true);
    }

    /**
     * Starts a run from the last checkpoint of another run, for example to decay the learning rate
     * earlier than it. Bit for bit, the result equals a run of this length from the beginning.
     *
     * @param run trained with a config that differs from this one only in its length; the learning
     *     rates of its finished steps must be the same in both, as for schedule {@code trapezoid}
     * @param folder of the new run; empty or missing
     * @param hooks called after the config's hooks; closed at the end
     * @throws SaccadeException if the run has no checkpoint, the config differs in other settings,
     *     or the folder is not empty
     */
    public Outcome fork(Path run, Path folder, Hook... hooks) {
        RunFork.create(new RunFolder(run), folder, config);
        return resume(folder, hooks);
    }

    /** Rejects a folder without a run, and config changes that {@link #resume} would reject. */
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
                : List.of("the run is longer now; the schedule covers the new length");
    }

    private boolean isFirst() {
        return ranks.rank() == 0;
    }

    /** Stops after the current step; the run can be resumed. Does nothing if no run is active. */
    public void stop() {
        stopRequested.set(true);
    }

    /**
     * Returns the last evaluation since the current or last run was started or resumed, if any; may
     * be called from any thread.
     */
    public Optional<EvaluationReport> lastEvaluation() {
        return observer.last();
    }

    /** Returns the best evaluation in the same way as {@link #lastEvaluation}. */
    public Optional<EvaluationReport> bestEvaluation() {
        return observer.best();
    }

    /** Loads the config of a run. */
    public static RunConfig config(Path folder) {
        RunFolder run = new RunFolder(folder);
        run.requireRun();
        return RunConfig.load(run.config());
    }

    private Outcome run(RunFolder folder, Hook[] hooks, boolean resume) {
        checkState(running.compareAndSet(false, true), "this training is already running");
        stopRequested.set(false);
        observer = new RunObserver(monitor);
        try (Hooks given = new Hooks(Arrays.asList(hooks))) {
            given.requireNames();
            Supplier<Outcome> run =
                    () -> OutOfMemory.TRAINING.call(() -> run(folder, given, resume));
            Outcome outcome = ProcessGroup.with(ranks, run);
            // Other ranks wait, because rank 0 may still fail in its last write.
            ranks.barrier();
            return outcome;
        } catch (RuntimeException | Error e) {
            ranks.fail(String.valueOf(e.getMessage()));
            throw e;
        } finally {
            running.set(false);
        }
    }

    private record Parts(
            NDManager manager,
            Model<?> model,
            Dataset train,
            Optional<Dataset> val,
            Optional<Validation> validation,
            Optional<Provenance.InitialWeights> initial,
            List<String> notes) {}

    /** Checks folder and data, builds the model, and trains. */
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
            found.requireNoErrors("the data set has errors; training did not start");
            notes.addAll(found.warnings());
        }
        notes.addAll(changes);
        try (NDManager manager = Libtorch.newManager(device)) {
            Dataset train = sources.get("train").open().get();
            Optional<Dataset> val =
                    Optional.ofNullable(sources.get("val")).map(source -> source.open().get());
            Model<?> model =
                    config.model().build(train.classes(), config.data().pixels().channels());
            Optional<Validation> validation =
                    val.map(each -> new ModelEvaluator<>(config, model, manager, ranks, each));
            model.initialize(manager, config.seed());
            Optional<Provenance.InitialWeights> identified = initial.map(InitialWeights::identify);
            if (isNew) {
                initial.ifPresent(from -> notes.add(from.describe(identified.orElseThrow())));
                notes.addAll(InitialWeights.load(initial, config, model));
                RunFolder.create(folder.path());
            }
            Parts parts = new Parts(manager, model, train, val, validation, identified, notes);
            Supplier<Outcome> run = () -> train(parts, folder, given, resume);
            return isFirst() ? RunLock.runLocked(folder, run) : run.get();
        }
    }

    /** Builds hooks, optimizer and data loader, and runs the training loop. */
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
                                data.pixels(),
                                config.trainTransforms(),
                                data.batchAugments(),
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
                            RunProvenance.of(config, parts.initial, parts.train),
                            RunLayout.of(config, loader.batchesPerEpoch(), worldSize),
                            ranks);
            List<String> notes = parts.notes;
            RunState state = resume ? checkpoints.resume(notes::add) : checkpoints.start();
            TrainStep step = new TrainStep(model::losses, optimizer, ema, config, ranks);
            Hooks logs = new Hooks(List.of());
            if (isFirst()) {
                AtomicFile.write(folder.config(), config.toYaml());
                Device device = parts.manager.getDevice();
                RunSummary about = new RunSummary(config, device, parts.train, worldSize);
                notes.addAll(about.lines(state.iteration(), length));
                logs = Logging.toFiles(folder, state.iteration(), config.logInterval());
            }
            try (Hooks open = logs.and(new Hooks(List.of(observer)))) {
                return new Trainer(
                                config,
                                checkpoints,
                                state,
                                step,
                                loader,
                                parts.validation,
                                open,
                                () -> stopRequested.get() || monitor.isCancelled())
                        .train(isFirst() ? notes : List.of());
            }
        }
    }
}
