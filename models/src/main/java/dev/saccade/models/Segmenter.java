package dev.saccade.models;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;

import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.loader.InferenceInput;
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
 * Trained semantic segmentation model with its transforms.
 *
 * <pre>{@code
 * try (Segmenter segmenter = Segmenter.load(Path.of("best.safetensors"))) {
 *     ClassMap map = segmenter.segment(Path.of("photo.jpg"));
 *     System.out.println(map.fractions());
 *     System.out.println("center: " + map.at(map.width() / 2, map.height() / 2));
 * }
 * }</pre>
 *
 * <p>Class maps have the size of the image. Thread-safe.
 */
public final class Segmenter extends TrainedModel<LabelMap> {

    Segmenter(SharedWeights<LabelMap> shared, ModelSpec spec) {
        this(shared, spec, Optional.empty(), Optional.empty());
    }

    private Segmenter(
            SharedWeights<LabelMap> shared,
            ModelSpec spec,
            Optional<TestTimeAugmentation> tta,
            Optional<Tiles> tiles) {
        super(shared, spec, tta, tiles);
    }

    /**
     * Loads a checkpoint onto the first GPU if available, else the CPU; no other file is needed.
     */
    public static Segmenter load(Path file) {
        return load(file, Devices.local().choose(Devices.AUTO));
    }

    /** Loads a checkpoint onto a device; see {@link TrainedModel#load(Path, Device)}. */
    public static Segmenter load(Path file, Device device) {
        return load(file, device, Segmenter.class);
    }

    @Override
    public Segmenter withTta(TestTimeAugmentation tta) {
        return new Segmenter(shared, spec(), Optional.of(tta), tiles);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Each pixel gets its class from the tile whose border is farthest away. Models with {@code
     * model.sliding_window} slide windows over each tile.
     */
    @Override
    public Segmenter withTiles(Tiles tiles) {
        return new Segmenter(shared, spec(), tta, Optional.of(tiles.whole(false)));
    }

    @Override
    LabelMap predictTiles(TiledImage image, InferenceInput whole) {
        TiledLabels labels = new TiledLabels(image.size(), image.tiles());
        for (Tile tile : image.tiles()) {
            try (InferenceInput input = image.read(tile)) {
                labels.add(tile, predictWhole(input));
            }
        }
        return labels.map();
    }

    @Override
    public Segmenter withPrecision(Precision precision) {
        return new Segmenter(shared, spec().withPrecision(precision), tta, tiles);
    }

    @Override
    public <R> R match(
            Function<? super Detector, R> detection,
            Function<? super Segmenter, R> segmentation,
            Function<? super Classifier, R> classification) {
        return segmentation.apply(this);
    }

    /**
     * Returns the mean entropy of the pixels' class probabilities, from 0 (certain) to 1, of the
     * whole image at the model's input size.
     */
    public double meanEntropy(ImageSource image) {
        return compute(
                (model, scratch) -> {
                    try (InferenceInput input = reader().read(List.of(image))) {
                        NDArray pixels = input.to(scratch).get(0).pixels();
                        return Model.withoutGradients(
                                () -> meanEntropy((SegmentationModel) model, pixels));
                    }
                },
                () -> "");
    }

    private double meanEntropy(SegmentationModel model, NDArray pixels) {
        NDArray probabilities = model.logits(pixels).toType(DataType.FLOAT32, false).softmax(1);
        NDArray logs = probabilities.maximum(Float.MIN_NORMAL).log();
        NDArray mean = probabilities.mul(logs).sum(new int[] {1}).mean();
        return -Tensors.readFloats(mean)[0] / Math.log(Math.max(2, classes().size()));
    }

    /** Returns the class of every pixel of an image file. */
    public ClassMap segment(Path image) {
        return segment(ImageSource.of(image));
    }

    /** Returns the class of every pixel of an encoded image. */
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
     * Returns the class of every pixel of an image.
     *
     * @throws SaccadeException of kind user that names the image, if it cannot be read
     */
    public ClassMap segment(ImageSource image) {
        return new ClassMap(predict(image), classes());
    }

    /** Returns the class of every pixel of each image; predicts several at the same time. */
    public List<ClassMap> segment(List<ImageSource> images) {
        return predictEach(images, this::segment);
    }
}
