package dev.saccade.train;

import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Batch;
import dev.saccade.datasets.DataLoader;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.DetectionEvaluator;
import dev.saccade.eval.Evaluation;
import dev.saccade.models.Detector;
import dev.saccade.models.DetectorSpec;
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

/**
 * Trains a detector from a config to a folder with logs and checkpoints.
 *
 * <pre>{@code
 * RunConfig config = ConfigBinder.bind(ConfigFile.load(file, List.of()), RunConfig.class);
 * DetectionTraining.start(config, Path.of("runs/cells"), List.of());
 * }</pre>
 */
public final class DetectionTraining {

    private final RunConfig config;
    private final RunFolder folder;
    private final Dataset dataset;
    private final Optional<DetectionEvaluator> evaluator;
    private final Detector detector;
    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    private DetectionTraining(RunConfig config, RunFolder folder) {
        this.config = config;
        this.folder = folder;
        DataConfig data = config.data();
        dataset = data.train().open(data.root());
        evaluator = data.val().map(other -> other.open(data.root())).map(this::evaluator);
        detector = new Detector(config.model(), dataset.classes());
        detector.initialize(manager, config.seed());
    }

    private DetectionEvaluator evaluator(Dataset other) {
        if (!other.classes().equals(dataset.classes())) {
            throw SaccadeException.user(
                    "data.val is labelled with %s but data.train with %s; labels would be mixed up",
                    other.classes(), dataset.classes());
        }
        DetectionEvaluator photos = DetectionEvaluator.of(other, config.model().head());
        String monitor = config.evaluation().monitor();
        if (!photos.metrics().contains(monitor)) {
            throw SaccadeException.user(
                    "evaluation.monitor: there is no metric %s of data.val; expected one of %s",
                    monitor, photos.metrics());
        }
        return photos;
    }

    /**
     * Trains from the beginning. Ctrl-C and SIGTERM end the run after the step being taken.
     *
     * @param folder a folder that is empty or not there
     * @param listeners hear of everything besides the logs of the run; closed at its end
     * @throws SaccadeException if config, data or folder cannot be used, or learning diverges
     */
    public static Outcome start(RunConfig config, Path folder, List<TrainListener> listeners) {
        DetectionTraining training = new DetectionTraining(config, new RunFolder(folder));
        List<String> notes =
                config.initFrom()
                        .map(file -> training.detector.initializeFrom(Checkpoints.open(file)))
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
        DetectionTraining training = new DetectionTraining(config, new RunFolder(folder));
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
                Optimizer optimizer = config.optimizer().build(detector);
                DataLoader<Batch> loader =
                        DataLoader.training(
                                dataset,
                                data.trainTransforms(),
                                config.model().head().targets(),
                                data.batchSize(),
                                data.workers(),
                                config.seed())) {
            RunCheckpoints checkpoints =
                    new RunCheckpoints(folder, detector, optimizer, identity());
            List<String> toSay = new ArrayList<>(notes);
            RunState state = resume ? checkpoints.resume(toSay::add) : RunState.START;
            Trainer.Parts parts =
                    new Trainer.Parts(
                            detector,
                            (batch, scratch) -> detector.losses(batch.on(scratch), batch.targets()),
                            optimizer,
                            loader,
                            evaluator.map(photos -> progress -> evaluate(photos, progress)));
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

    private DetectorSpec spec() {
        DataConfig data = config.data();
        return new DetectorSpec(
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

    private Evaluator.Result evaluate(DetectionEvaluator photos, Runnable progress) {
        Evaluation evaluation =
                photos.evaluate(
                        spec().viewTransforms(),
                        photo -> {
                            try (NDManager scratch = manager.newSubManager()) {
                                return detector.predictViews(photo.on(scratch));
                            }
                        },
                        config.data().workers(),
                        done -> progress.run());
        return new Evaluator.Result(evaluation.values(), Map.of());
    }
}
