package dev.saccade.train;

import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Targets;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.datasets.loader.PhotoViews;
import dev.saccade.eval.DetectionEvaluator;
import dev.saccade.eval.SegmentationEvaluator;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.SegmentationModel;
import dev.saccade.train.config.DataConfig;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.logs.JsonLog;
import dev.saccade.train.logs.Listeners;
import dev.saccade.train.logs.TensorBoardLog;
import dev.saccade.train.logs.TextLog;
import dev.saccade.train.logs.TrainListener;
import dev.saccade.train.optimizers.Optimizer;

import java.time.Clock;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** A model with what it learns from and is measured on, from the first step to the last. */
final class Run {

    private final RunConfig config;
    private final RunFolder folder;
    private final Dataset dataset;
    private final Optional<Evaluator> evaluator;
    private final Model model;
    private final NDManager manager;
    private final List<String> notes;

    /**
     * Makes the model.
     *
     * @param manager owns it
     * @param notes what is to be told once the logs are there
     */
    Run(
            NDManager manager,
            RunConfig config,
            RunFolder folder,
            Dataset dataset,
            Optional<Dataset> measured,
            List<String> notes) {
        this.manager = manager;
        this.config = config;
        this.folder = folder;
        this.dataset = dataset;
        this.notes = new ArrayList<>(notes);
        evaluator = measured.map(this::evaluator);
        model = config.model().build(dataset.classes());
        model.initialize(manager, config.seed());
    }

    private Evaluator evaluator(Dataset other) {
        if (!other.classes().equals(dataset.classes())) {
            throw SaccadeException.user(
                    "data.val is labelled with %s but data.train with %s; labels would be mixed up",
                    other.classes(), dataset.classes());
        }
        Targets learned = config.model().head().targets();
        return switch (learned) {
            case BOXES, MASKS -> evaluator(DetectionEvaluator.of(other, learned));
            case LABEL_MAPS -> evaluator(new SegmentationEvaluator(other));
        };
    }

    private Evaluator evaluator(DetectionEvaluator photos) {
        requireMonitored(photos.metrics());
        return progress ->
                result(
                        photos.evaluate(
                                        spec().viewTransforms(),
                                        photo -> predicted((DetectionModel) model, photo),
                                        config.data().workers(),
                                        done -> progress.run())
                                .values());
    }

    private Evaluator evaluator(SegmentationEvaluator photos) {
        requireMonitored(photos.metrics());
        return progress ->
                result(
                        photos.evaluate(
                                        spec().viewTransforms(),
                                        photo -> predicted((SegmentationModel) model, photo),
                                        config.data().workers(),
                                        done -> progress.run())
                                .values());
    }

    private void requireMonitored(Set<String> metrics) {
        if (!metrics.contains(config.monitor())) {
            throw SaccadeException.user(
                    "evaluation.monitor: there is no metric %s of data.val; expected one of %s",
                    config.monitor(), metrics);
        }
    }

    private Instances predicted(DetectionModel detector, PhotoViews photo) {
        try (NDManager scratch = manager.newSubManager()) {
            return detector.predictViews(photo.on(scratch));
        }
    }

    private LabelMap predicted(SegmentationModel segmenter, PhotoViews photo) {
        try (NDManager scratch = manager.newSubManager()) {
            return segmenter.predictViews(photo.on(scratch));
        }
    }

    private static Evaluator.Result result(Map<String, Double> metrics) {
        return new Evaluator.Result(metrics, Map.of());
    }

    /**
     * Takes the steps of a new run.
     *
     * @param listener hears of everything besides the logs of the run; left open
     * @param begun told the trainer before its first step
     */
    Outcome start(TrainListener listener, Consumer<Trainer> begun) {
        config.initFrom()
                .map(file -> model.initializeFrom(Checkpoints.open(file)))
                .ifPresent(report -> report.toString().lines().forEach(notes::add));
        RunFolder.create(folder.path());
        return RunLock.during(folder, () -> take(listener, begun, false));
    }

    /**
     * Takes the steps that an earlier process has left; see {@link #start}. The folder is locked.
     */
    Outcome resume(TrainListener listener, Consumer<Trainer> begun) {
        return take(listener, begun, true);
    }

    private Outcome take(TrainListener listener, Consumer<Trainer> begun, boolean resume) {
        DataConfig data = config.data();
        try (Optimizer optimizer = config.optimizer().build(model);
                DataLoader<Batch> loader =
                        DataLoader.training(
                                dataset,
                                data.trainTransforms(),
                                config.model().head().targets(),
                                data.batchSize(),
                                data.workers(),
                                config.seed())) {
            RunCheckpoints checkpoints = new RunCheckpoints(folder, model, optimizer, identity());
            RunState state = resume ? checkpoints.resume(notes::add) : RunState.START;
            Trainer.Parts parts =
                    new Trainer.Parts(model, model::losses, optimizer, loader, evaluator);
            AtomicFile.write(folder.config(), ConfigWriter.yaml(Configs.unbind(config)));
            try (TrainListener logs = logs(state.iteration())) {
                TrainListener all = new Listeners(List.of(logs, listener));
                notes.forEach(all::noted);
                introduce(all, state);
                Trainer trainer = new Trainer(parts, config, folder, checkpoints, state, all);
                begun.accept(trainer);
                return trainer.run();
            }
        }
    }

    private Map<String, String> identity() {
        return ImmutableMap.<String, String>builder()
                .putAll(spec().toMetadata())
                .put("run.seed", Long.toString(config.seed()))
                .put("run.data", DatasetFingerprint.of(dataset))
                .buildOrThrow();
    }

    private ModelSpec spec() {
        DataConfig data = config.data();
        return new ModelSpec(
                config.model(), data.valTransforms(), data.valViews(), dataset.classes());
    }

    private TrainListener logs(long iteration) {
        return new Listeners(
                List.of(
                        new TextLog(folder.log(), Clock.system(ZoneId.systemDefault())),
                        new JsonLog(folder.metrics(), iteration),
                        new TensorBoardLog(folder.tensorBoard(), iteration, Clock.systemUTC())));
    }

    private void introduce(TrainListener listener, RunState state) {
        listener.noted(
                "%s, %s, %s a step"
                        .formatted(
                                Count.of(dataset.size(), "photograph"),
                                Count.of(dataset.classes().size(), "class"),
                                Count.of(config.imagesPerStep(), "image")));
        config.referenceBatch()
                .filter(images -> images != config.imagesPerStep())
                .ifPresent(
                        images ->
                                listener.noted(
                                        String.format(
                                                Locale.ROOT,
                                                "learning rate %s is stated for %s a step:"
                                                        + " scaled to %s (reference_batch: null"
                                                        + " leaves it)",
                                                config.optimizer().learningRate(),
                                                Count.of(images, "image"),
                                                config.learningRate())));
        if (state.iteration() > 0) {
            listener.noted("resuming after step " + state.iteration());
        }
    }
}
