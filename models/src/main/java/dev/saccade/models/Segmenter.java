package dev.saccade.models;

import ai.djl.ndarray.NDManager;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.PhotoViews;
import dev.saccade.datasets.transforms.Views;

import java.nio.file.Path;
import java.util.List;

/** Tells the class of every pixel of photographs: a trained segmenter with its transforms. */
public final class Segmenter extends TrainedModel {

    private final SegmentationModel segmenter;

    Segmenter(NDManager manager, SegmentationModel segmenter, ModelSpec spec) {
        super(manager, spec);
        this.segmenter = segmenter;
    }

    /**
     * Loads a segmenter from a checkpoint of a run; nothing but this file is needed.
     *
     * @throws SaccadeException if the file cannot be read or holds no segmenter
     */
    public static Segmenter load(Path file) {
        TrainedModel model = TrainedModel.load(file);
        if (model instanceof Segmenter segmenter) {
            return segmenter;
        }
        model.close();
        throw SaccadeException.user("%s: holds a detector, expected a segmenter", file);
    }

    @Override
    public Segmenter withViews(Views views) {
        return new Segmenter(manager(), segmenter, spec().withViews(views));
    }

    /**
     * Returns the class of every pixel of a photograph, at its own size.
     *
     * @throws SaccadeException that names the file, if it is no usable image
     */
    public LabelMap segment(Path photo) {
        try (PhotoViews views = reader().read(List.of(photo))) {
            return segment(views);
        }
    }

    /** Returns the class of every pixel of a photograph of which all views are there. */
    public LabelMap segment(PhotoViews photo) {
        try (NDManager scratch = manager().newSubManager()) {
            return segmenter.predictViews(photo.on(scratch));
        }
    }
}
