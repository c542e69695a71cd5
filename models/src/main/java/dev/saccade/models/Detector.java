package dev.saccade.models;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.loader.PhotoViews;
import dev.saccade.datasets.loader.TiledPhoto;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.datasets.transforms.Tiles;
import dev.saccade.datasets.transforms.Tiles.Tile;
import dev.saccade.models.tiles.TiledObjects;

import org.opencv.core.Mat;

import java.awt.image.BufferedImage;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/**
 * Finds objects in photographs: a trained detector with its transforms.
 *
 * <pre>{@code
 * try (Detector detector = Detector.load(Path.of("best.safetensors"))) {
 *     for (DetectedObject object : detector.detect(Path.of("photo.jpg"))) {
 *         System.out.println(object.label() + " " + object.score() + " " + object.box());
 *     }
 * }
 * }</pre>
 *
 * <p>Objects come best first, in pixels of the photograph, with masks if the detector has learned
 * them. Several threads may share a detector.
 */
public final class Detector extends TrainedModel<Instances> {

    Detector(NDManager manager, DetectionModel model, ModelSpec spec) {
        super(manager, model, spec);
    }

    private Detector(Detector other, ModelSpec spec) {
        super(other, spec);
    }

    private Detector(Detector other, Tiles tiles) {
        super(other, tiles);
    }

    /**
     * Loads a detector from a checkpoint of a run; nothing but this file is needed.
     *
     * @throws SaccadeException if the file cannot be read or holds no detector
     */
    public static Detector load(Path file) {
        return load(file, Devices.here().choose(Devices.AUTO));
    }

    /**
     * Loads a detector onto a device; see {@link TrainedModel#load(Path, Device)}.
     *
     * @throws SaccadeException if the file cannot be read or holds no detector, or the device
     *     cannot be used
     */
    public static Detector load(Path file, Device device) {
        return load(file, device, Detector.class);
    }

    @Override
    public Detector withViews(TestTimeAugmentation views) {
        return new Detector(this, spec().withViews(views));
    }

    @Override
    public Detector withTiles(Tiles tiles) {
        return new Detector(this, tiles);
    }

    @Override
    Instances predict(TiledPhoto photo, PhotoViews whole) {
        TiledObjects objects = new TiledObjects(photo.size());
        if (!whole.batches().isEmpty()) {
            objects.add(Tile.all(photo.size()), look(whole));
        }
        for (Tile tile : photo.tiles()) {
            try (PhotoViews views = photo.read(tile)) {
                objects.add(tile, look(views));
            }
        }
        return objects.merged();
    }

    @Override
    public Detector withPrecision(Precision precision) {
        return new Detector(this, spec().withPrecision(precision));
    }

    @Override
    public <R> R match(
            Function<? super Detector, R> detection, Function<? super Segmenter, R> segmentation) {
        return detection.apply(this);
    }

    /**
     * Returns the objects in the photograph of a file.
     *
     * @throws SaccadeException of kind user that names the file, if it is no usable image
     */
    public List<DetectedObject> detect(Path photo) {
        return detect(ImageSource.of(photo));
    }

    /**
     * Returns the objects in a photograph whose file is in memory.
     *
     * @throws SaccadeException of kind user, if it is no usable image
     */
    public List<DetectedObject> detect(byte[] encoded) {
        return detect(ImageSource.of(encoded));
    }

    /** Returns the objects in an image of Java's; see {@link ImageSource#of(BufferedImage)}. */
    public List<DetectedObject> detect(BufferedImage image) {
        return detect(ImageSource.of(image));
    }

    /** Returns the objects in an image of OpenCV's; see {@link ImageSource#of(Mat)}. */
    public List<DetectedObject> detect(Mat image) {
        return detect(ImageSource.of(image));
    }

    /**
     * Returns the objects in a photograph.
     *
     * @throws SaccadeException of kind user that names it, if it is no usable image
     */
    public List<DetectedObject> detect(ImageSource photo) {
        return DetectedObject.of(predict(photo), classes());
    }

    /**
     * Returns the objects in each of some photographs, in their order. They go through the detector
     * one by one, so each is answered as if it were alone.
     *
     * @throws SaccadeException of kind user that names it, if one is no usable image
     */
    public List<List<DetectedObject>> detect(List<ImageSource> photos) {
        return photos.stream().map(this::detect).collect(ImmutableList.toImmutableList());
    }
}
