package dev.saccade.train;

import ai.djl.ndarray.NDManager;

import com.google.common.base.Throwables;
import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Module;
import dev.saccade.core.parts.PartFailure;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.models.Model;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.config.DataConfig;
import dev.saccade.train.config.InitialWeights;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Hooks;
import dev.saccade.train.logs.JsonLog;
import dev.saccade.train.logs.LogWriter;
import dev.saccade.train.logs.Logging;
import dev.saccade.train.logs.TensorBoardLog;
import dev.saccade.train.logs.TextLog;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.schedules.RunLength;

import java.time.Clock;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** What one rank does of a run: a model, what it learns from, and the loop over both. */
final class RunTask {

    private final RunConfig config;
    private final ProcessGroup ranks;
    private final NDManager manager;
    private final Model<?> model;
    private final Dataset train;
    private final Optional<Dataset> val;
    private final Optional<Validation> validation;
    private final List<String> notes;

    /**
     * Prepares to train.
     *
     * @param manager owns the model
     * @param model without weights as yet
     * @param train what is learned from
     * @param val what is measured on
     * @param notes what is told once the logs are there; more may be added
     * @throws SaccadeException of kind user, if it cannot be measured so
     */
    RunTask(
            RunConfig config,
            ProcessGroup ranks,
            NDManager manager,
            Model<?> model,
            Dataset train,
            Optional<Dataset> val,
            List<String> notes) {
        this.config = config;
        this.ranks = ranks;
        this.manager = manager;
        this.model = model;
        this.train = train;
        this.val = val;
        this.validation = val.map(this::validation);
        this.notes = notes;
    }

    private Validation validation(Dataset val) {
        if (!val.classes().equals(train.classes())) {
            throw SaccadeException.user(
                    "data.val is labeled with %s but data.train with %s; labels would be mixed up",
                    val.classes(), train.classes());
        }
        return new ModelEvaluator<>(config, model, manager, ranks).on(val);
    }

    private ModelSpec spec() {
        DataConfig data = config.data();
        return new ModelSpec(
                config.model(),
                data.valTransformsAtSize(),
                data.views(),
                train.classes(),
                config.precision());
    }

    /**
     * Loads the weights that the run starts from, or notes what speaks against having none.
     *
     * @param initial those that the config names, if it names any
     */
    void initializeFrom(Optional<InitialWeights> initial) {
        if (initial.isEmpty()) {
            config.initFrom().ifPresent(none -> notes.add(published()));
            warnOfFrozen();
            return;
        }
        InitialWeights weights = initial.get();
        notes.add(weights.describe());
        Checkpoint checkpoint = weights.open();
        try {
            model.initializeFrom(checkpoint).toString().lines().forEach(notes::add);
        } catch (SaccadeException e) {
            if (e.kind() != SaccadeException.Kind.USER) {
                throw e;
            }
            throw SaccadeException.user(e, "%s: %s", weights.file(), e);
        }
    }

    private String published() {
        return "warning: the run starts from nothing, as init_from says; of this backbone there are"
                + " published weights: "
                + InitialWeights.fitting(config.model().backbone());
    }

    private void warnOfFrozen() {
        long frozen =
                model.backbone().namedParameters().values().stream()
                        .filter(p -> !Module.isBuffer(p) && !p.requiresGradient())
                        .count();
        if (frozen > 0) {
            notes.add(
                    Text.format(
                            "warning: %d parameters of the backbone are frozen and start from"
                                    + " nothing; name weights with init_from, or set"
                                    + " model.backbone.frozen_stages=-1",
                            frozen));
        }
    }

    /**
     * Takes the steps.
     *
     * @param given the hooks of the program
     * @param resume whether an earlier process has taken some
     * @param stopped whether the run is to end after the step that is being taken
     */
    Outcome run(RunFolder folder, Hooks given, boolean resume, BooleanSupplier stopped) {
        Map<String, String> identity = identity();
        new SameRun(ranks).require(config, identity, val);
        try (Hooks named = Hooks.build(config.hooks());
                Optimizer optimizer = config.optimizer().build(model);
                DataLoader<Batch> loader = loader()) {
            named.requireNames();
            Optional<ModelEma> ema = config.ema().map(averaging -> averaging.build(model));
            Hooks acting = named.and(given);
            RunCheckpoints checkpoints =
                    new RunCheckpoints(
                            folder,
                            new Checkpointed(model, optimizer, ema, acting),
                            identity,
                            RunLayout.of(config, loader.batchesPerEpoch(), ranks.worldSize()),
                            ranks);
            RunState state = resume ? checkpoints.resume(notes::add) : checkpoints.start();
            noteLength(state, config.length(loader.batchesPerEpoch(), ranks.worldSize()));
            Trainer.Setup setup =
                    new Trainer.Setup(
                            model, model::losses, optimizer, ema, loader, validation, ranks);
            if (ranks.rank() > 0) {
                Trainer trainer = new Trainer(setup, config, checkpoints, state, acting);
                return train(trainer, stopped, acting);
            }
            AtomicFile.write(folder.config(), ConfigWriter.yaml(Configs.unbind(config)));
            try (Hooks logs = logs(folder, state.iteration())) {
                Hook about = new RunNotes(config, manager.getDevice(), train, notes, ranks);
                Hooks all = new Hooks(List.of(about)).and(acting).and(logs);
                Trainer trainer = new Trainer(setup, config, checkpoints, state, all);
                return train(trainer, stopped, logs);
            }
        }
    }

    /** Notes what is odd about how long the run is. */
    private void noteLength(RunState state, RunLength length) {
        long steps = length.iterations();
        if (state.iteration() >= steps) {
            notes.add(
                    Text.format(
                            "all %d steps were taken before; a larger number of %s makes the run"
                                    + " longer",
                            steps, config.iterations().isPresent() ? "iterations" : "epochs"));
            return;
        }
        long warmup = config.schedule().warmup().iterations();
        if (2 * warmup > steps) {
            notes.add(
                    Text.format(
                            "warning: the learning rate rises in the first %d steps, and there are"
                                    + " %d; set schedule.warmup.iterations to a small part of them",
                            warmup, steps));
        }
    }

    private DataLoader<Batch> loader() {
        DataConfig data = config.data();
        return DataLoader.distributed(
                train,
                data.trainTransformsAtSize(),
                config.model().head().targets(),
                data.batchSize(),
                data.workers(),
                config.seed(),
                ranks,
                model.synchronizes());
    }

    private Outcome train(Trainer trainer, BooleanSupplier stopped, Hooks logs) {
        try {
            return trainer.train(stopped);
        } catch (RuntimeException e) {
            throw shortage(e, trainer)
                    .or(() -> PartFailure.of(e).map(told -> noted(told, logs)))
                    .orElseThrow(() -> e);
        }
    }

    /** Returns what memory a step was missing, if it was that; it takes some steps to find out. */
    private Optional<SaccadeException> shortage(RuntimeException error, Trainer trainer) {
        int classes = train.classes().size();
        return trainer.failedOn()
                .map(batch -> new MemoryShortage(manager.getDevice(), batch))
                .flatMap(shortage -> shortage.tell(error, config, classes, trainer::note));
    }

    /** A user is told in one line what a part has failed of; who has written it wants more. */
    private static SaccadeException noted(SaccadeException failure, Hooks logs) {
        logs.noted(Throwables.getStackTraceAsString(failure));
        return failure;
    }

    private Map<String, String> identity() {
        return ImmutableMap.<String, String>builder()
                .putAll(spec().toMetadata())
                .put("run.seed", Long.toString(config.seed()))
                .put("run.data", DatasetFingerprint.compute(train))
                .buildOrThrow();
    }

    private Hooks logs(RunFolder folder, long iteration) {
        Stream<LogWriter> writers =
                Stream.of(
                        new TextLog(folder.log(), Clock.system(ZoneId.systemDefault())),
                        new JsonLog(folder.metrics(), iteration),
                        new TensorBoardLog(folder.tensorBoard(), iteration, Clock.systemUTC()));
        return new Hooks(writers.map(log -> new Logging(log, config.logInterval())).toList());
    }
}
