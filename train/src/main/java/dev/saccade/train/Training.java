package dev.saccade.train;

import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Targets;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Batch;
import dev.saccade.datasets.DataLoader;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.PhotoViews;
import dev.saccade.eval.DetectionEvaluator;
import dev.saccade.eval.SegmentationEvaluator;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.SegmentationModel;
import dev.saccade.models.checkpoint.Checkpoints;
import dev.saccade.models.config.ConfigBinder;
import dev.saccade.models.config.ConfigFile;
import dev.saccade.models.config.ConfigWriter;
import dev.saccade.train.config.DataConfig;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.logs.JsonLog;
import dev.saccade.train.logs.Listeners;
import dev.saccade.train.logs.TensorBoardLog;
import dev.saccade.train.logs.TextLog;
import dev.saccade.train.logs.TrainListener;
import dev.saccade.train.optimizers.Optimizer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Trains a model from a config to a folder with logs and checkpoints.
 *
 * <pre>{@code
 * RunConfig config = ConfigBinder.bind(ConfigFile.load(file, List.of()), RunConfig.class);
 * Training.start(config, Path.of("runs/cells"), List.of());
 * }</pre>
 */
public final class Training {

    private final RunConfig config;
    private final RunFolder folder;
    private final Dataset dataset;
    private final Optional<Evaluator> evaluator;
    private final Model model;
    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    private Training(RunConfig config, RunFolder folder) {
        this.config = config;
        this.folder = folder;
        DataConfig data = config.data();
        dataset = data.train().open(data.root());
        evaluator = data.val().map(other -> other.open(data.root())).map(this::evaluator);
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
     * Trains from the beginning. Ctrl-C and SIGTERM end the run after the step being taken.
     *
     * @param folder a folder that is empty or not there
     * @param listeners hear of everything besides the logs of the run; closed at its end
     * @throws SaccadeException if config, data or folder cannot be used, or learning diverges
     */
    public static Outcome start(RunConfig config, Path folder, List<TrainListener> listeners) {
        Training training = new Training(config, new RunFolder(folder));
        List<String> notes =
                config.initFrom()
                        .map(file -> training.model.initializeFrom(Checkpoints.open(file)))
                        .map(report -> report.toString().lines().toList())
                        .orElse(List.of());
        RunFolder.create(folder);
        return training.run(listeners, notes, false);
    }

    /**
     * Goes on with a run that was interrupted, as if it had not been.
     *
     * @param config the config of the run, see {@link #config}; epochs may have risen, and what
     *     does not touch learning may have changed
     * @param folder the folder of the run
     * @throws SaccadeException if there is nothing to resume from, or if config or data set have
     *     changed in a way that would make it another run
     */
    public static Outcome resume(RunConfig config, Path folder, List<TrainListener> listeners) {
        RunConfig before = config(folder);
        ConfigChange.require(before, config);
        boolean longer =
                config.epochs() > before.epochs()
                        || !config.iterations().equals(before.iterations());
        List<String> notes =
                longer
                        ? List.of("the run is longer now; its schedule runs to the new end")
                        : List.of();
        Training training = new Training(config, new RunFolder(folder));
        return training.run(listeners, notes, true);
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
        return ConfigBinder.bind(ConfigFile.load(file, List.of()), RunConfig.class);
    }

    private Outcome run(List<TrainListener> listeners, List<String> notes, boolean resume) {
        DataConfig data = config.data();
        try (manager;
                Optimizer optimizer = config.optimizer().build(model);
                DataLoader<Batch> loader =
                        DataLoader.training(
                                dataset,
                                data.trainTransforms(),
                                config.model().head().targets(),
                                data.batchSize(),
                                data.workers(),
                                config.seed())) {
            RunCheckpoints checkpoints = new RunCheckpoints(folder, model, optimizer, identity());
            List<String> toSay = new ArrayList<>(notes);
            RunState state = resume ? checkpoints.resume(toSay::add) : RunState.START;
            Trainer.Parts parts =
                    new Trainer.Parts(model, model::losses, optimizer, loader, evaluator);
            writeConfig();
            try (TrainListener all = listeners(listeners, state.iteration())) {
                toSay.forEach(all::noted);
                introduce(all, state);
                Trainer trainer = new Trainer(parts, config, folder, checkpoints, state, all);
                return StopSignal.during(trainer::run, trainer::stop);
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

    private TrainListener listeners(List<TrainListener> others, long iteration) {
        return new Listeners(
                ImmutableList.<TrainListener>builder()
                        .add(new TextLog(folder.log(), Clock.system(ZoneId.systemDefault())))
                        .add(new JsonLog(folder.metrics(), iteration))
                        .add(new TensorBoardLog(folder.tensorBoard(), iteration, Clock.systemUTC()))
                        .addAll(others)
                        .build());
    }

    private void introduce(TrainListener listener, RunState state) {
        listener.noted(
                String.format(
                        Locale.ROOT,
                        "%d photographs, %d classes, %d images a step",
                        dataset.size(),
                        dataset.classes().size(),
                        config.imagesPerStep()));
        config.referenceBatch()
                .filter(images -> images != config.imagesPerStep())
                .ifPresent(
                        images ->
                                listener.noted(
                                        String.format(
                                                Locale.ROOT,
                                                "learning rate %s is stated for %d images a step:"
                                                        + " scaled to %s (reference_batch: null"
                                                        + " leaves it)",
                                                config.optimizer().learningRate(),
                                                images,
                                                config.learningRate())));
        if (state.iteration() > 0) {
            listener.noted("resuming after step " + state.iteration());
        }
    }

    private void writeConfig() {
        try {
            Files.writeString(folder.config(), ConfigWriter.yaml(ConfigBinder.unbind(config)));
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "%s: cannot be written: %s", folder.config(), e.getMessage());
        }
    }
}
