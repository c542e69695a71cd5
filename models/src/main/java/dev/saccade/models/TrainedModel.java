package dev.saccade.models;

import static com.google.common.base.Preconditions.checkState;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import com.google.common.base.Ascii;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.loader.ImageViews;
import dev.saccade.datasets.loader.TiledImage;
import dev.saccade.datasets.loader.ViewReader;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.datasets.transforms.Tiles;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A trained model with the transforms it was trained for: a {@link Detector} or a {@link
 * Segmenter}.
 *
 * <p>Several threads may share one; each call holds the memory of its own photographs only. Closing
 * waits for the calls of other threads.
 *
 * @param <P> what is predicted for a photograph, in its pixels: {@link Instances} or a {@link
 *     LabelMap}
 */
public abstract sealed class TrainedModel<P> implements AutoCloseable permits Detector, Segmenter {

    /** Weights that several models share. */
    record Shared<P>(NDManager manager, Model<P> model, ReadWriteLock use) {}

    final Shared<P> shared;
    final Optional<TestTimeAugmentation> views;
    final Optional<Tiles> tiles;
    private final ModelSpec spec;
    private final ViewReader reader;

    TrainedModel(
            Shared<P> shared,
            ModelSpec spec,
            Optional<TestTimeAugmentation> views,
            Optional<Tiles> tiles) {
        this.shared = shared;
        this.spec = spec;
        this.views = views;
        this.tiles = tiles;
        this.reader = new ViewReader(viewTransforms(), tiles);
    }

    /** Returns the transforms of each view of an image. */
    public final List<List<Transform>> viewTransforms() {
        try {
            return views.map(augmentation -> augmentation.views(spec.transforms()))
                    .orElseGet(() -> List.of(spec.transforms()));
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user("%s", e.getMessage());
        }
    }

    /**
     * Loads a model from a checkpoint of a run; nothing but this file is needed. It computes on the
     * first GPU, if one can be used, else on the CPU. OpenCV is loaded as well, so that a program
     * may make images of it to look at.
     *
     * @throws SaccadeException if the file cannot be read or holds no model
     */
    public static TrainedModel<?> load(Path file) {
        return load(file, Devices.local().choose(Devices.AUTO));
    }

    /**
     * Loads a model from a checkpoint of a run onto a device.
     *
     * @param device such as {@code Device.cpu()}, {@code Device.gpu(1)} or {@code
     *     Devices.local().choose("cuda:1")}
     * @throws SaccadeException if the file cannot be read or holds no model, or the device cannot
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
        ReadWriteLock use = new ReentrantReadWriteLock();
        try {
            return spec.restore(checkpoint, file.toString(), manager)
                    .<TrainedModel<?>>match(
                            model -> new Detector(new Shared<>(manager, model, use), spec, scores),
                            model -> new Segmenter(new Shared<>(manager, model, use), spec));
        } catch (RuntimeException e) {
            manager.close();
            throw e;
        }
    }

    /** Loads a model of a type and rejects all others. */
    static <M extends TrainedModel<?>> M load(Path file, Device device, Class<M> kind) {
        TrainedModel<?> model = load(file, device);
        if (kind.isInstance(model)) {
            return kind.cast(model);
        }
        model.close();
        throw SaccadeException.user(
                "%s: holds a %s, expected a %s", file, name(model.getClass()), name(kind));
    }

    private static String name(Class<?> kind) {
        return Ascii.toLowerCase(kind.getSimpleName());
    }

    /**
     * Returns this model with test-time augmentation: predictions merge all views of an image. It
     * shares the weights: closing either closes both.
     *
     * @param views such as {@code spec().views().views().get("multi_scale")}
     * @throws SaccadeException of kind user, if the views cannot be created with the transforms of
     *     the model
     */
    public abstract TrainedModel<P> withViews(TestTimeAugmentation views);

    /**
     * Returns this model, but looking at photographs that are larger than a tile in tiles, each in
     * all views, and putting together what it finds in them. It shares the weights: closing either
     * closes both.
     */
    public abstract TrainedModel<P> withTiles(Tiles tiles);

    /**
     * Returns this model, but computing in another precision than that it was trained in. It shares
     * the weights: closing either closes both.
     */
    public abstract TrainedModel<P> withPrecision(Precision precision);

    /** Returns what a detector is made into by one function, or a segmenter by the other. */
    public abstract <R> R match(
            Function<? super Detector, R> detection, Function<? super Segmenter, R> segmentation);

    /** Returns the names of the labels, in order. */
    public final List<String> classes() {
        return spec.classes();
    }

    /** Returns what the model is made of and fed with. */
    public final ModelSpec spec() {
        return spec;
    }

    /** Returns the network, which is closed with this. */
    public final Model<P> model() {
        return shared.model;
    }

    /** Returns the number of parameters, frozen ones included. */
    public final long parameterCount() {
        return shared.model.parameterCount();
    }

    /** Returns what prepares photographs for {@link #predict(ImageViews)}. */
    public final ViewReader reader() {
        return reader;
    }

    /**
     * Returns the prediction for an image.
     *
     * @throws SaccadeException of kind user that names it, if it is not a readable image
     */
    public final P predict(ImageSource image) {
        return compute(
                scratch -> {
                    try (ImageViews views = reader.read(List.of(image))) {
                        return predict(views);
                    }
                },
                () -> "");
    }

    /** Returns the prediction for an image that the {@link #reader} has prepared. */
    public final P predict(ImageViews image) {
        return image.tiled().isPresent()
                ? predictTiles(image.tiled().get(), image)
                : predictWhole(image);
    }

    /**
     * Returns the prediction for an image in tiles.
     *
     * @param whole the views of the whole image, if there are any
     */
    abstract P predictTiles(TiledImage image, ImageViews whole);

    /** Returns the prediction for an image, or a tile, that the network processes at once. */
    final P predictWhole(ImageViews image) {
        return compute(
                scratch -> shared.model.predictAugmented(image.to(scratch)), () -> sizes(image));
    }

    /**
     * Returns the prediction for each image. Images of one view and the same padded size are one
     * batch, which is faster for small images; rounding then differs, as sums are in another order.
     */
    public final List<P> predict(List<ImageViews> images) {
        boolean severalViews = images.stream().anyMatch(image -> image.batches().size() > 1);
        long sizes = images.stream().map(image -> image.batches().get(0).size()).distinct().count();
        if (images.size() == 1 || severalViews || sizes > 1) {
            return images.stream().map(this::predict).toList();
        }
        return compute(
                scratch -> shared.model.predict(together(images, scratch)),
                () -> sizes(images.get(0)) + " of " + images.size() + " images");
    }

    private static ImageBatch together(List<ImageViews> images, NDManager manager) {
        List<ImageBatch> alone = images.stream().map(image -> image.to(manager).get(0)).toList();
        NDArray[] pixels = alone.stream().map(ImageBatch::pixels).toArray(NDArray[]::new);
        return new ImageBatch(
                Tensors.concat(new NDList(pixels), 0),
                alone.stream().flatMap(batch -> batch.images().stream()).toList());
    }

    private static String sizes(ImageViews image) {
        return image.batches().stream()
                .map(view -> view.images().size() + " x " + view.size())
                .collect(Collectors.joining(" and ", "; the network looked at ", ""));
    }

    private String memory() {
        Device device = shared.manager.getDevice();
        return TensorMemory.of(device)
                        .map(held -> "; tensors held " + DeviceMemory.text(held.peakBytes()))
                        .orElse("")
                + DeviceMemory.of(device)
                        .map(all -> "; " + Devices.name(device) + " has " + all)
                        .orElse("");
    }

    /**
     * Returns a prediction in the precision of this model, and frees its memory; the weights stay
     * open until then.
     *
     * @param details added to the message when memory runs out
     */
    final <T> T compute(Function<NDManager, T> prediction, Supplier<String> details) {
        shared.use.readLock().lock();
        try (NDManager scratch = newScratch()) {
            return OutOfMemory.PREDICTION.call(
                    () ->
                            Autocast.call(
                                    spec.precision(),
                                    shared.manager.getDevice(),
                                    () -> prediction.apply(scratch)),
                    () -> details.get() + memory());
        } finally {
            shared.use.readLock().unlock();
        }
    }

    private NDManager newScratch() {
        checkState(shared.manager.isOpen(), "the %s is closed", getClass().getSimpleName());
        return shared.manager.newSubManager();
    }

    @Override
    public final void close() {
        shared.use.writeLock().lock();
        try {
            shared.manager.close();
        } finally {
            shared.use.writeLock().unlock();
        }
    }
}
