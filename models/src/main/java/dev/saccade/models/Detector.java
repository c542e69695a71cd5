package dev.saccade.models;

import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.PhotoViews;
import dev.saccade.datasets.transforms.Views;

import java.nio.file.Path;
import java.util.List;

/** Finds objects in photographs: a trained detector with its transforms. */
public final class Detector extends TrainedModel {

    private final DetectionModel detector;

    Detector(NDManager manager, DetectionModel detector, ModelSpec spec) {
        super(manager, spec);
        this.detector = detector;
    }

    /**
     * Loads a detector from a checkpoint of a run; nothing but this file is needed.
     *
     * @throws SaccadeException if the file cannot be read or holds no detector
     */
    public static Detector load(Path file) {
        TrainedModel model = TrainedModel.load(file);
        if (model instanceof Detector detector) {
            return detector;
        }
        model.close();
        throw SaccadeException.user("%s: holds a segmenter, expected a detector", file);
    }

    @Override
    public Detector withViews(Views views) {
        return new Detector(manager(), detector, spec().withViews(views));
    }

    /**
     * Returns the objects in a photograph, best first, in its own pixels; with masks of its size if
     * the head of the detector predicts them.
     *
     * @throws SaccadeException that names the file, if it is no usable image
     */
    public Instances detect(Path photo) {
        try (PhotoViews views = reader().read(List.of(photo))) {
            return detect(views);
        }
    }

    /**
     * Returns the objects in each of some photographs, which go through the detector together; one
     * by one if it looks at them in several views.
     *
     * @throws SaccadeException that names the file, if one is no usable image
     */
    public List<Instances> detect(List<Path> photos) {
        if (photos.isEmpty()) {
            return ImmutableList.of();
        }
        if (spec().viewTransforms().size() > 1) {
            return photos.stream().map(this::detect).collect(ImmutableList.toImmutableList());
        }
        try (PhotoViews views = reader().read(photos);
                NDManager scratch = manager().newSubManager()) {
            return ImmutableList.copyOf(detector.predict(views.on(scratch).get(0)));
        }
    }

    /** Returns the objects in a photograph of which all views are there. */
    public Instances detect(PhotoViews photo) {
        try (NDManager scratch = manager().newSubManager()) {
            return detector.predictViews(photo.on(scratch));
        }
    }
}
