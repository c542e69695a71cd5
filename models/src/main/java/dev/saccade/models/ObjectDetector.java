package dev.saccade.models;

import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Batch;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.SampleReader;
import dev.saccade.models.checkpoint.Checkpoint;
import dev.saccade.models.checkpoint.Checkpoints;
import dev.saccade.models.checkpoint.Weights;

import java.nio.file.Path;
import java.util.ArrayList;
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
    private final SampleReader reader;

    private ObjectDetector(NDManager manager, Detector detector, DetectorSpec spec) {
        this.manager = manager;
        this.detector = detector;
        this.spec = spec;
        this.reader = new SampleReader(spec.transforms());
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
        return detect(List.of(photo)).get(0);
    }

    /**
     * Returns the objects in each of some photographs, which go through the detector together.
     *
     * @throws dev.saccade.core.SaccadeException that names the file, if one is no usable image
     */
    public List<Instances> detect(List<Path> photos) {
        List<Sample> samples = new ArrayList<>();
        try {
            photos.forEach(photo -> samples.add(reader.testSample(photo)));
            try (Batch batch = Batch.of(samples)) {
                return detect(batch);
            }
        } finally {
            samples.forEach(Sample::close);
        }
    }

    /** Returns the objects in each photograph of a batch. */
    public List<Instances> detect(Batch batch) {
        try (NDManager scratch = manager.newSubManager()) {
            return ImmutableList.copyOf(detector.predict(batch.on(scratch)));
        }
    }

    @Override
    public void close() {
        manager.close();
    }
}
