package dev.saccade.models;

import ai.djl.Device;

import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.TiledImage;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.datasets.transforms.Tiles;
import dev.saccade.datasets.transforms.Tiles.Tile;
import dev.saccade.models.tiles.TiledObjects;

import org.opencv.core.Mat;

import java.awt.image.BufferedImage;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Trained object detector with its transforms.
 *
 * <pre>{@code
 * try (Detector detector = Detector.load(Path.of("best.safetensors"))) {
 *     for (DetectedObject object : detector.detect(Path.of("photo.jpg"))) {
 *         System.out.println(object.label() + " " + object.score() + " " + object.box());
 *     }
 * }
 * }</pre>
 *
 * <p>Objects are sorted by score, highest first, in pixels of the original image, with masks if the
 * model predicts them. Thread-safe.
 */
public final class Detector extends TrainedModel<Instances> {

    /** Thresholds of calls without one, by the recommended thresholds. */
    private final UnaryOperator<ScoreThresholds> defaultScores;

    Detector(SharedWeights<Instances> shared, ModelSpec spec) {
        this(shared, spec, Optional.empty(), Optional.empty(), ScoreThresholds::uniform);
    }

    private Detector(
            SharedWeights<Instances> shared,
            ModelSpec spec,
            Optional<TestTimeAugmentation> tta,
            Optional<Tiles> tiles,
            UnaryOperator<ScoreThresholds> defaultScores) {
        super(shared, spec, tta, tiles);
        this.defaultScores = defaultScores;
    }

    /**
     * Loads a checkpoint onto the first GPU if available, else the CPU; no other file is needed.
     */
    public static Detector load(Path file) {
        return load(file, Devices.local().choose(Devices.AUTO));
    }

    /** Loads a checkpoint onto a device; see {@link TrainedModel#load(Path, Device)}. */
    public static Detector load(Path file, Device device) {
        return load(file, device, Detector.class);
    }

    @Override
    public Detector withTta(TestTimeAugmentation tta) {
        return new Detector(shared, spec(), Optional.of(tta), tiles, defaultScores);
    }

    @Override
    public Detector withTiles(Tiles tiles) {
        return new Detector(shared, spec(), tta, Optional.of(tiles), defaultScores);
    }

    /**
     * Returns a copy that uses another minimum score if a call has none. The copy shares the
     * weights: closing either model closes both.
     */
    public Detector withMinScore(double minScore) {
        ScoreThresholds thresholds = ScoreThresholds.of(minScore);
        return new Detector(shared, spec(), tta, tiles, recommended -> thresholds);
    }

    /**
     * Returns a copy that uses the recommended score of each class if a call has no minimum score.
     * The copy shares the weights: closing either model closes both.
     */
    public Detector withScoresPerClass() {
        return new Detector(shared, spec(), tta, tiles, UnaryOperator.identity());
    }

    @Override
    Instances predictTiles(TiledImage image, InferenceInput whole) {
        TiledObjects objects = new TiledObjects(image.size());
        if (!whole.batches().isEmpty()) {
            objects.add(Tile.all(image.size()), predictWhole(whole));
        }
        for (Tile tile : image.tiles()) {
            try (InferenceInput input = image.read(tile)) {
                objects.add(tile, predictWhole(input));
            }
        }
        return objects.merged();
    }

    @Override
    public Detector withPrecision(Precision precision) {
        return new Detector(shared, spec().withPrecision(precision), tta, tiles, defaultScores);
    }

    @Override
    public <R> R match(
            Function<? super Detector, R> detection,
            Function<? super Segmenter, R> segmentation,
            Function<? super Classifier, R> classification) {
        return detection.apply(this);
    }

    /**
     * Returns the recommended minimum scores of the checkpoint, or {@link ScoreThresholds#DEFAULT}.
     */
    public ScoreThresholds scoreThresholds() {
        return shared.current().scores();
    }

    /**
     * Returns the objects in an image file that reach the overall threshold of {@link
     * #scoreThresholds}.
     */
    public List<DetectedObject> detect(Path image) {
        return detect(ImageSource.of(image));
    }

    /** Returns the objects in an image file with at least this score; 0 returns all detections. */
    public List<DetectedObject> detect(Path image, double minScore) {
        return detect(ImageSource.of(image), minScore);
    }

    /** Returns the objects in an encoded image that reach the overall threshold. */
    public List<DetectedObject> detect(byte[] encoded) {
        return detect(ImageSource.of(encoded));
    }

    /** Returns the objects in an encoded image with at least this score. */
    public List<DetectedObject> detect(byte[] encoded, double minScore) {
        return detect(ImageSource.of(encoded), minScore);
    }

    /** Returns the objects that reach the overall threshold; see {@link ImageSource}. */
    public List<DetectedObject> detect(BufferedImage image) {
        return detect(ImageSource.of(image));
    }

    /** Returns the objects with at least this score; see {@link ImageSource#of(BufferedImage)}. */
    public List<DetectedObject> detect(BufferedImage image, double minScore) {
        return detect(ImageSource.of(image), minScore);
    }

    /** Returns the objects that reach the overall threshold; see {@link ImageSource#of(Mat)}. */
    public List<DetectedObject> detect(Mat image) {
        return detect(ImageSource.of(image));
    }

    /** Returns the objects with at least this score; see {@link ImageSource#of(Mat)}. */
    public List<DetectedObject> detect(Mat image, double minScore) {
        return detect(ImageSource.of(image), minScore);
    }

    /**
     * Returns the objects in an image that reach the overall threshold.
     *
     * @throws SaccadeException of kind user that names the image, if it cannot be read
     */
    public List<DetectedObject> detect(ImageSource image) {
        return detect(image, defaultScores.apply(scoreThresholds()));
    }

    /** Returns the objects in an image with at least this score. */
    public List<DetectedObject> detect(ImageSource image, double minScore) {
        return detect(image, ScoreThresholds.of(minScore));
    }

    /**
     * Returns the objects that reach the threshold of their class in {@code thresholds}, such as
     * {@link #scoreThresholds}.
     */
    public List<DetectedObject> detect(ImageSource image, ScoreThresholds thresholds) {
        return DetectedObject.of(thresholds.select(predict(image), classes()), classes());
    }

    /**
     * Returns the objects in each image that reach the overall threshold. Several images are
     * predicted at the same time; results do not depend on other images.
     */
    public List<List<DetectedObject>> detect(List<ImageSource> images) {
        return predictEach(images, this::detect);
    }

    /** Returns the objects in each image with at least this score; see {@link #detect(List)}. */
    public List<List<DetectedObject>> detect(List<ImageSource> images, double minScore) {
        return predictEach(images, image -> detect(image, minScore));
    }
}
