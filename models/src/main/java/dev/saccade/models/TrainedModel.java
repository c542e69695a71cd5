package dev.saccade.models;

import static com.google.common.base.Preconditions.checkState;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;

import com.google.common.base.Ascii;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Doubles;
import com.google.common.primitives.Floats;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Workers;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.PredictionStreams;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.datasets.loader.TiledImage;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.datasets.transforms.Tiles;

import io.micrometer.observation.Observation;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Trained model with its transforms: a {@link Detector}, {@link Segmenter} or {@link Classifier}.
 * Thread-safe; each call allocates memory for its own images only. Closing waits for running calls.
 *
 * @param <P> prediction for an image in its original pixels: {@link Instances}, a {@link LabelMap}
 *     or {@link ClassScores}
 */
public abstract sealed class TrainedModel<P> implements AutoCloseable
        permits Detector, Segmenter, Classifier {

    final SharedWeights<P> shared;
    final Optional<TestTimeAugmentation> tta;
    final Optional<Tiles> tiles;
    private final ModelSpec spec;
    private final InferenceReader reader;
    private volatile ModelMetrics metrics = ModelMetrics.NONE;
    private volatile PredictionQueue<P> queue;

    TrainedModel(
            SharedWeights<P> shared,
            ModelSpec spec,
            Optional<TestTimeAugmentation> tta,
            Optional<Tiles> tiles) {
        this.shared = shared;
        this.spec = spec;
        this.tta = tta;
        this.tiles = tiles;
        this.reader = new InferenceReader(pipelines(), tiles, spec.pixels());
    }

    /** Returns the transforms of each test-time augmentation; one list without augmentation. */
    public final List<List<Transform>> pipelines() {
        try {
            return tta.map(augmentation -> augmentation.pipelines(spec.transforms()))
                    .orElseGet(() -> List.of(spec.transforms()));
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user("%s", e.getMessage());
        }
    }

    /** Loads a checkpoint onto the first GPU if available, else the CPU; also loads OpenCV. */
    public static TrainedModel<?> load(Path file) {
        return load(file, Devices.local().choose(Devices.AUTO));
    }

    /**
     * Loads a checkpoint onto a device, such as {@code Device.gpu(1)}; no other file is needed.
     *
     * @throws SaccadeException if the file cannot be read or is not a model, or the device cannot
     *     be used
     */
    public static TrainedModel<?> load(Path file, Device device) {
        OpenCv.load();
        Checkpoint checkpoint = Checkpoints.open(file);
        ModelSpec spec = ModelSpec.fromMetadata(checkpoint.metadata(), file.toString());
        ScoreThresholds scores =
                ScoreThresholds.find(checkpoint.metadata(), file.toString())
                        .orElse(ScoreThresholds.DEFAULT);
        NDManager manager = Libtorch.newManager(Devices.local().require(device));
        try {
            return spec.restore(checkpoint, file.toString(), manager)
                    .<TrainedModel<?>>match(
                            model -> new Detector(shared(manager, model, scores), spec),
                            model -> new Segmenter(shared(manager, model, scores), spec),
                            model -> new Classifier(shared(manager, model, scores), spec));
        } catch (RuntimeException e) {
            manager.close();
            throw e;
        }
    }

    private static <P> SharedWeights<P> shared(
            NDManager manager, Model<P> model, ScoreThresholds scores) {
        return new SharedWeights<>(new SharedWeights.Loaded<>(manager, model, scores));
    }

    /**
     * Loads weights and recommended scores of another checkpoint of the same config, also in
     * copies. Running predictions finish with the previous weights, which are then freed; both need
     * memory meanwhile. Concurrent calls wait for each other.
     *
     * @throws SaccadeException if the file cannot be read, or its model, transforms or classes
     *     differ; the previous weights stay in use
     */
    public final void reload(Path file) {
        shared.replace(
                () -> {
                    TrainedModel<?> loaded = load(file, device());
                    ModelSpec other = loaded.spec.withPrecision(spec.precision());
                    if (!other.toMetadata().equals(spec.toMetadata())) {
                        loaded.close();
                        throw SaccadeException.user(
                                "%s: has another model, other transforms or other classes than the"
                                        + " loaded checkpoint; restart the program to use it",
                                file);
                    }
                    @SuppressWarnings("unchecked") // models with this description have this type
                    TrainedModel<P> same = (TrainedModel<P>) loaded;
                    return same.shared.current();
                });
    }

    /** Records metrics of the predictions of this model, but not of its copies. */
    public final void setMetrics(ModelMetrics value) {
        value.memory(this::weightBytes);
        metrics = value;
    }

    final long weightBytes() {
        return isOpen() ? parameterCount() * Float.BYTES : 0;
    }

    /**
     * Predicts images in a {@link PredictionQueue} from now on, which batches the images of
     * concurrent calls. Calls throw a {@link QueueFullException} if the queue is full. Copies of
     * this model do not use the queue.
     */
    public final void startQueue(QueueLimits limits, ModelMetrics recorder) {
        checkState(queue == null, "the queue is started already");
        queue = new PredictionQueue<>(this, limits, recorder);
    }

    /** Loads a model; throws if its class is not {@code kind}. */
    static <M extends TrainedModel<?>> M load(Path file, Device device, Class<M> kind) {
        TrainedModel<?> model = load(file, device);
        if (kind.isInstance(model)) {
            return kind.cast(model);
        }
        model.close();
        throw SaccadeException.user(
                "%s: got a %s, expected a %s", file, name(model.getClass()), name(kind));
    }

    private static String name(Class<?> kind) {
        return Ascii.toLowerCase(kind.getSimpleName());
    }

    /**
     * Returns a copy that uses test-time augmentation, such as {@code
     * spec().tta().tta().get("multi_scale")}; throws if {@code tta} does not fit the transforms.
     * The copy shares the weights: closing either model closes both.
     */
    public abstract TrainedModel<P> withTta(TestTimeAugmentation tta);

    /**
     * Returns a copy that splits images larger than a tile into tiles. The copy shares the weights:
     * closing either model closes both.
     */
    public abstract TrainedModel<P> withTiles(Tiles tiles);

    /**
     * Returns a copy with another precision. It shares the weights: closing either model closes
     * both.
     */
    public abstract TrainedModel<P> withPrecision(Precision precision);

    /** Calls the function for the type of this model and returns its result. */
    public abstract <R> R match(
            Function<? super Detector, R> detection,
            Function<? super Segmenter, R> segmentation,
            Function<? super Classifier, R> classification);

    /** Returns the class names by index. */
    public final List<String> classes() {
        return spec.classes();
    }

    public final ModelSpec spec() {
        return spec;
    }

    /** Returns the network; it is closed with this model. */
    public final Model<P> model() {
        return shared.current().model();
    }

    /** Returns the number of parameters, including frozen ones. */
    public final long parameterCount() {
        return model().parameterCount();
    }

    /** Returns the reader that prepares images for {@link #predict(InferenceInput)}. */
    public final InferenceReader reader() {
        return reader;
    }

    /**
     * Predicts an image.
     *
     * @throws SaccadeException of kind user that names the image, if it cannot be read
     * @throws QueueFullException if a {@linkplain #startQueue queue} is full
     */
    public final P predict(ImageSource image) {
        PredictionQueue<P> started = queue;
        if (started != null) {
            return started.predict(image);
        }
        try {
            return compute(
                    (model, scratch) -> {
                        try (InferenceInput input = read(image, metrics, metrics.request())) {
                            return predict(input);
                        }
                    },
                    () -> "");
        } catch (RuntimeException | Error e) {
            metrics.error(e);
            throw e;
        }
    }

    /** Decodes and transforms an image of an observed request, which may be null. */
    final InferenceInput read(ImageSource image, ModelMetrics recorder, Observation request) {
        return recorder.decode(
                request, () -> OutOfMemory.PREDICTION.call(() -> reader.read(List.of(image))));
    }

    /** Predicts an image prepared by the {@link #reader}. */
    public final P predict(InferenceInput image) {
        return predict(image, metrics, metrics.request());
    }

    private P predict(InferenceInput image, ModelMetrics recorder, Observation request) {
        return recorder.predict(
                request,
                1,
                () ->
                        image.tiled().isPresent()
                                ? predictTiles(image.tiled().get(), image)
                                : predictWhole(image));
    }

    /**
     * Returns the mean of each channel of all feature levels, which is similar for similar images.
     *
     * @throws SaccadeException of kind user that names the image, if it cannot be read
     */
    public final double[] embedding(ImageSource image) {
        return compute(
                (model, scratch) -> {
                    try (InferenceInput input = reader.read(List.of(image))) {
                        ImageBatch batch = input.to(scratch).get(0);
                        return Model.withoutGradients(() -> means(model.features(batch.pixels())));
                    }
                },
                () -> "");
    }

    static double[] means(FeaturePyramid features) {
        List<NDArray> means = new ArrayList<>();
        for (NDArray level : features.levels()) {
            NDArray pixels =
                    level.toType(DataType.FLOAT32, false).reshape(1, level.getShape().get(1), -1);
            means.add(pixels.mean(new int[] {2}));
        }
        return Doubles.toArray(
                Floats.asList(Tensors.readFloats(Tensors.concat(new NDList(means), 1))));
    }

    /** Predicts an image in tiles; {@code whole} has no batches if only tiles are predicted. */
    abstract P predictTiles(TiledImage image, InferenceInput whole);

    /** Predicts an image or tile without splitting it. */
    final P predictWhole(InferenceInput image) {
        return compute(
                (model, scratch) -> model.predictAugmented(image.to(scratch)), () -> sizes(image));
    }

    /** Returns the device of the weights. */
    public final Device device() {
        return shared.device();
    }

    /** Returns whether the model is not closed. */
    public final boolean isOpen() {
        return shared.isOpen();
    }

    /** Returns the number of images to predict at the same time for the highest throughput. */
    public final int streams() {
        return PredictionStreams.count(device());
    }

    /** Predicts each image in one of the {@link #streams}; keeps the order. */
    final <T> List<T> predictEach(
            List<ImageSource> images, Function<? super ImageSource, ? extends T> prediction) {
        List<Callable<T>> tasks = new ArrayList<>();
        images.forEach(image -> tasks.add(() -> prediction.apply(image)));
        ImmutableList.Builder<T> results = ImmutableList.builder();
        try (Workers workers = new Workers("saccade-predict", streams())) {
            workers.run(tasks, results::add);
        }
        return results.build();
    }

    /**
     * Predicts images. If all can {@linkplain InferenceInput#sharedBatchSize share a batch}, they
     * do, which is faster for small images. On GPUs and without fused operators, this changes the
     * rounding.
     */
    public final List<P> predict(List<InferenceInput> images) {
        return predict(images, metrics, metrics.request());
    }

    /** Predicts images of requests, of which one is observed; it may be null. */
    final List<P> predict(List<InferenceInput> images, ModelMetrics recorder, Observation request) {
        List<Optional<Size>> sizes =
                images.stream().map(InferenceInput::sharedBatchSize).distinct().toList();
        if (images.size() == 1 || sizes.size() != 1 || sizes.get(0).isEmpty()) {
            return images.stream().map(image -> predict(image, recorder, request)).toList();
        }
        return recorder.predict(
                request,
                images.size(),
                () ->
                        compute(
                                (model, scratch) -> model.predict(concatenated(images, scratch)),
                                () -> sizes(images.get(0)) + " of " + images.size() + " images"));
    }

    private static ImageBatch concatenated(List<InferenceInput> images, NDManager manager) {
        List<ImageBatch> singles = images.stream().map(image -> image.to(manager).get(0)).toList();
        NDArray[] pixels = singles.stream().map(ImageBatch::pixels).toArray(NDArray[]::new);
        return new ImageBatch(
                Tensors.concat(new NDList(pixels), 0),
                singles.stream().flatMap(batch -> batch.images().stream()).toList());
    }

    private static String sizes(InferenceInput image) {
        return image.batches().stream()
                .map(batch -> batch.images().size() + " x " + batch.size())
                .collect(Collectors.joining(" and ", "; network input ", ""));
    }

    private String memory() {
        Device device = device();
        return TensorMemory.of(device)
                        .map(held -> "; tensors used " + DeviceMemory.text(held.peakBytes()))
                        .orElse("")
                + DeviceMemory.of(device)
                        .map(all -> "; " + Devices.name(device) + " has " + all)
                        .orElse("");
    }

    /**
     * Runs a prediction in this model's precision; {@code details} are appended to out-of-memory
     * messages.
     */
    final <T> T compute(BiFunction<Model<P>, NDManager, T> prediction, Supplier<String> details) {
        return shared.use(
                getClass().getSimpleName(),
                loaded -> {
                    try (NDManager scratch = loaded.manager().newSubManager()) {
                        return OutOfMemory.PREDICTION.call(
                                () ->
                                        PredictionStreams.call(
                                                device(),
                                                () ->
                                                        Autocast.call(
                                                                spec.precision(),
                                                                device(),
                                                                () ->
                                                                        prediction.apply(
                                                                                loaded.model(),
                                                                                scratch))),
                                () -> details.get() + memory());
                    }
                });
    }

    @Override
    public final void close() {
        PredictionQueue<P> started = queue;
        if (started != null) {
            started.close();
        }
        shared.close();
    }
}
