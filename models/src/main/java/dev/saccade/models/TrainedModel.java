package dev.saccade.models;

import static com.google.common.base.Preconditions.checkState;

import ai.djl.ndarray.NDManager;

import com.google.common.base.Ascii;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.loader.PhotoViews;
import dev.saccade.datasets.loader.ViewReader;
import dev.saccade.datasets.transforms.TestTimeAugmentation;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;

/**
 * A trained model with the transforms it was trained for.
 *
 * <p>Several threads may share one; each call holds the memory of its own photographs only. Closing
 * waits for the calls of other threads.
 */
public abstract sealed class TrainedModel implements AutoCloseable permits Detector, Segmenter {

    private final NDManager manager;
    private final ReadWriteLock use;
    private final ModelSpec spec;
    private final ViewReader reader;

    TrainedModel(NDManager manager, ModelSpec spec) {
        this(manager, new ReentrantReadWriteLock(), spec);
    }

    /** Shares the weights of another one. */
    TrainedModel(TrainedModel other, ModelSpec spec) {
        this(other.manager, other.use, spec);
    }

    private TrainedModel(NDManager manager, ReadWriteLock use, ModelSpec spec) {
        this.manager = manager;
        this.use = use;
        this.spec = spec;
        this.reader = new ViewReader(spec.viewTransforms());
    }

    /**
     * Loads a model from a checkpoint of a run; nothing but this file is needed. OpenCV is loaded
     * as well, so that a program may make images of it to look at.
     *
     * @throws SaccadeException if the file cannot be read or holds no model
     */
    public static TrainedModel load(Path file) {
        OpenCv.load();
        Checkpoint checkpoint = Checkpoints.open(file);
        ModelSpec spec = ModelSpec.fromMetadata(checkpoint.metadata(), file.toString());
        NDManager manager = NDManager.newBaseManager("PyTorch");
        try {
            Model model = spec.restore(checkpoint, file.toString(), manager);
            return model instanceof DetectionModel detector
                    ? new Detector(manager, detector, spec)
                    : new Segmenter(manager, (SegmentationModel) model, spec);
        } catch (RuntimeException e) {
            manager.close();
            throw e;
        }
    }

    /** Loads a model of a kind; any other is refused. */
    static <M extends TrainedModel> M load(Path file, Class<M> kind) {
        TrainedModel model = load(file);
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
     * Returns this model, but looking at each photograph in other views and merging what it finds
     * in them. It shares the weights: closing either closes both.
     *
     * @throws SaccadeException of kind user, if the views cannot be made with the transforms of the
     *     model
     */
    public abstract TrainedModel withViews(TestTimeAugmentation views);

    /** Returns the names of the labels, in order. */
    public final List<String> classes() {
        return spec.classes();
    }

    /** Returns what the model is made of and fed with. */
    public final ModelSpec spec() {
        return spec;
    }

    /** Returns what is made of a photograph. */
    final <T> T read(ImageSource photo, Function<PhotoViews, T> prediction) {
        return OutOfMemory.IN_PREDICTION.told(
                () -> {
                    try (PhotoViews views = reader.read(List.of(photo))) {
                        return prediction.apply(views);
                    }
                });
    }

    /** Returns what is predicted with memory that is given back then, and weights that stay. */
    final <T> T predict(Function<NDManager, T> prediction) {
        use.readLock().lock();
        try {
            checkState(manager.isOpen(), "the %s is closed", getClass().getSimpleName());
            return OutOfMemory.IN_PREDICTION.told(
                    () -> {
                        try (NDManager scratch = manager.newSubManager()) {
                            return prediction.apply(scratch);
                        }
                    });
        } finally {
            use.readLock().unlock();
        }
    }

    @Override
    public final void close() {
        use.writeLock().lock();
        try {
            manager.close();
        } finally {
            use.writeLock().unlock();
        }
    }
}
