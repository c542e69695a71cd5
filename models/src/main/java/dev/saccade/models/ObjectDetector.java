package dev.saccade.models;

import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.PhotoViews;
import dev.saccade.datasets.ViewReader;
import dev.saccade.datasets.transforms.Views;
import dev.saccade.models.checkpoint.Checkpoint;
import dev.saccade.models.checkpoint.Checkpoints;
import dev.saccade.models.checkpoint.Weights;

import java.nio.file.Path;
import java.util.List;

/**
 * Finds objects in photographs: a trained detector with the transforms it was trained for.
 *
 * <p>Several threads may share one; each call holds the memory of its own photographs only.
 */
public final class ObjectDetector implements AutoCloseable {

    private final NDManager manager;
    private final Detector detector;
    private final DetectorSpec spec;
    private final ViewReader reader;

    private ObjectDetector(NDManager manager, Detector detector, DetectorSpec spec) {
        this.manager = manager;
        this.detector = detector;
        this.spec = spec;
        this.reader = new ViewReader(spec.viewTransforms());
    }

    /**
     * Loads a detector from a checkpoint of a run; nothing but this file is needed.
     *
     * @throws dev.saccade.core.SaccadeException if the file cannot be read or holds no detector
     */
    public static ObjectDetector load(Path file) {
        Checkpoint checkpoint = Checkpoints.open(file);
        DetectorSpec spec = DetectorSpec.fromMetadata(checkpoint.metadata(), file.toString());
        Detector detector = new Detector(spec.model(), spec.classes());
        NDManager manager = NDManager.newBaseManager("PyTorch");
        detector.initialize(manager, 0);
        Weights.restore(checkpoint, detector);
        detector.train(false);
        return new ObjectDetector(manager, detector, spec);
    }

    /**
     * Returns this detector, but looking at each photograph in other views and merging what it
     * finds in them. It shares the weights: closing either closes both.
     *
     * @throws dev.saccade.core.SaccadeException of kind user, if the views cannot be made with the
     *     transforms of the detector
     */
    public ObjectDetector withViews(Views views) {
        return new ObjectDetector(manager, detector, spec.withViews(views));
    }

    /** Returns the names of the labels, in order. */
    public List<String> classes() {
        return spec.classes();
    }

    /** Returns what the detector is made of and fed with. */
    public DetectorSpec spec() {
        return spec;
    }

    /**
     * Returns the objects in a photograph, best first, in its own pixels; with masks of its size if
     * the head of the detector predicts them.
     *
     * @throws dev.saccade.core.SaccadeException that names the file, if it is no usable image
     */
    public Instances detect(Path photo) {
        try (PhotoViews views = reader.read(List.of(photo))) {
            return detect(views);
        }
    }

    /**
     * Returns the objects in each of some photographs, which go through the detector together; one
     * by one if it looks at them in several views.
     *
     * @throws dev.saccade.core.SaccadeException that names the file, if one is no usable image
     */
    public List<Instances> detect(List<Path> photos) {
        if (photos.isEmpty()) {
            return ImmutableList.of();
        }
        if (spec.viewTransforms().size() > 1) {
            return photos.stream().map(this::detect).collect(ImmutableList.toImmutableList());
        }
        try (PhotoViews views = reader.read(photos);
                NDManager scratch = manager.newSubManager()) {
            return ImmutableList.copyOf(detector.predict(views.on(scratch).get(0)));
        }
    }

    /** Returns the objects in a photograph of which all views are there. */
    public Instances detect(PhotoViews photo) {
        try (NDManager scratch = manager.newSubManager()) {
            return detector.predictViews(photo.on(scratch));
        }
    }

    @Override
    public void close() {
        manager.close();
    }
}
