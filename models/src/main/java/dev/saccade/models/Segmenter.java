package dev.saccade.models;

import ai.djl.Device;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.loader.ImageViews;
import dev.saccade.datasets.loader.TiledImage;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.datasets.transforms.Tiles;
import dev.saccade.datasets.transforms.Tiles.Tile;
import dev.saccade.models.tiles.TiledLabels;

import org.opencv.core.Mat;

import java.awt.image.BufferedImage;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Tells the class of every pixel of photographs: a trained segmenter with its transforms.
 *
 * <pre>{@code
 * try (Segmenter segmenter = Segmenter.load(Path.of("best.safetensors"))) {
 *     ClassMap map = segmenter.segment(Path.of("photo.jpg"));
 *     System.out.println(map.shares() + ", in the middle " + map.at(map.width() / 2, map.height() / 2));
 * }
 * }</pre>
 *
 * <p>Maps are of the size of the photograph. Several threads may share a segmenter.
 */
public final class Segmenter extends TrainedModel<LabelMap> {

    Segmenter(Shared<LabelMap> shared, ModelSpec spec) {
        this(shared, spec, Optional.empty(), Optional.empty());
    }

    private Segmenter(
            Shared<LabelMap> shared,
            ModelSpec spec,
            Optional<TestTimeAugmentation> views,
            Optional<Tiles> tiles) {
        super(shared, spec, views, tiles);
    }

    /**
     * Loads a segmenter from a checkpoint of a run; nothing but this file is needed.
     *
     * @throws SaccadeException if the file cannot be read or holds no segmenter
     */
    public static Segmenter load(Path file) {
        return load(file, Devices.local().choose(Devices.AUTO));
    }

    /**
     * Loads a segmenter onto a device; see {@link TrainedModel#load(Path, Device)}.
     *
     * @throws SaccadeException if the file cannot be read or holds no segmenter, or the device
     *     cannot be used
     */
    public static Segmenter load(Path file, Device device) {
        return load(file, device, Segmenter.class);
    }

    @Override
    public Segmenter withViews(TestTimeAugmentation views) {
        return new Segmenter(shared, spec(), Optional.of(views), tiles);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Each pixel has the class that it has in the tile whose borders are farthest from it; there
     * is no look at the whole photograph. Where a model slides windows over what it is given (the
     * config's {@code model.sliding_window}), it does so in each tile.
     */
    @Override
    public Segmenter withTiles(Tiles tiles) {
        return new Segmenter(shared, spec(), views, Optional.of(tiles.whole(false)));
    }

    @Override
    LabelMap predictTiles(TiledImage photo, ImageViews none) {
        TiledLabels labels = new TiledLabels(photo.size(), photo.tiles());
        for (Tile tile : photo.tiles()) {
            try (ImageViews views = photo.read(tile)) {
                labels.add(tile, predictWhole(views));
            }
        }
        return labels.map();
    }

    @Override
    public Segmenter withPrecision(Precision precision) {
        return new Segmenter(shared, spec().withPrecision(precision), views, tiles);
    }

    @Override
    public <R> R match(
            Function<? super Detector, R> detection, Function<? super Segmenter, R> segmentation) {
        return segmentation.apply(this);
    }

    /**
     * Returns the class of every pixel of the photograph of a file.
     *
     * @throws SaccadeException of kind user that names the file, if it is no usable image
     */
    public ClassMap segment(Path photo) {
        return segment(ImageSource.of(photo));
    }

    /**
     * Returns the class of every pixel of a photograph whose file is in memory.
     *
     * @throws SaccadeException of kind user, if it is no usable image
     */
    public ClassMap segment(byte[] encoded) {
        return segment(ImageSource.of(encoded));
    }

    /** Returns the class of every pixel; see {@link ImageSource#of(BufferedImage)}. */
    public ClassMap segment(BufferedImage image) {
        return segment(ImageSource.of(image));
    }

    /** Returns the class of every pixel; see {@link ImageSource#of(Mat)}. */
    public ClassMap segment(Mat image) {
        return segment(ImageSource.of(image));
    }

    /**
     * Returns the class of every pixel of a photograph.
     *
     * @throws SaccadeException of kind user that names it, if it is no usable image
     */
    public ClassMap segment(ImageSource photo) {
        return new ClassMap(predict(photo), classes());
    }

    /**
     * Returns the class of every pixel of each of some photographs, which go through the segmenter
     * one by one, as in mmsegmentation.
     *
     * @throws SaccadeException of kind user that names it, if one is no usable image
     */
    public List<ClassMap> segment(List<ImageSource> photos) {
        return photos.stream().map(this::segment).collect(ImmutableList.toImmutableList());
    }
}
