package dev.saccade.models;

import ai.djl.Device;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.TiledImage;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.datasets.transforms.Tiles;

import org.opencv.core.Mat;

import java.awt.image.BufferedImage;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Trained image classifier with its transforms.
 *
 * <pre>{@code
 * try (Classifier classifier = Classifier.load(Path.of("best.safetensors"))) {
 *     ClassScore best = classifier.classify(Path.of("photo.jpg")).get(0);
 *     System.out.println(best.label() + " " + best.score());
 * }
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class Classifier extends TrainedModel<ClassScores> {

    Classifier(SharedWeights<ClassScores> shared, ModelSpec spec) {
        this(shared, spec, Optional.empty());
    }

    private Classifier(
            SharedWeights<ClassScores> shared, ModelSpec spec, Optional<TestTimeAugmentation> tta) {
        super(shared, spec, tta, Optional.empty());
    }

    /**
     * Loads a checkpoint onto the first GPU if available, else the CPU; no other file is needed.
     */
    public static Classifier load(Path file) {
        return load(file, Devices.local().choose(Devices.AUTO));
    }

    /** Loads a checkpoint onto a device; see {@link TrainedModel#load(Path, Device)}. */
    public static Classifier load(Path file, Device device) {
        return load(file, device, Classifier.class);
    }

    @Override
    public Classifier withTta(TestTimeAugmentation tta) {
        return new Classifier(shared, spec(), Optional.of(tta));
    }

    /** Always throws: a class belongs to a whole image. */
    @Override
    public Classifier withTiles(Tiles tiles) {
        throw SaccadeException.user(
                "a classifier predicts a class for the whole image; do not split it into tiles");
    }

    @Override
    ClassScores predictTiles(TiledImage image, InferenceInput whole) {
        throw new UnsupportedOperationException("a classifier does not split images");
    }

    @Override
    public Classifier withPrecision(Precision precision) {
        return new Classifier(shared, spec().withPrecision(precision), tta);
    }

    @Override
    public <R> R match(
            Function<? super Detector, R> detection,
            Function<? super Segmenter, R> segmentation,
            Function<? super Classifier, R> classification) {
        return classification.apply(this);
    }

    /** Returns the probabilities of all classes of an image file, highest first. */
    public List<ClassScore> classify(Path image) {
        return classify(ImageSource.of(image));
    }

    /** Returns the probabilities of all classes of an encoded image, highest first. */
    public List<ClassScore> classify(byte[] encoded) {
        return classify(ImageSource.of(encoded));
    }

    /** Returns the probabilities of all classes; see {@link ImageSource#of(BufferedImage)}. */
    public List<ClassScore> classify(BufferedImage image) {
        return classify(ImageSource.of(image));
    }

    /** Returns the probabilities of all classes; see {@link ImageSource#of(Mat)}. */
    public List<ClassScore> classify(Mat image) {
        return classify(ImageSource.of(image));
    }

    /**
     * Returns the probabilities of all classes, highest first.
     *
     * @throws SaccadeException of kind user that names the image, if it cannot be read
     */
    public List<ClassScore> classify(ImageSource image) {
        return ClassScore.top(predict(image), classes(), classes().size());
    }

    /** Probabilities of all classes, highest first, and the {@link #embedding} of an image. */
    public record Embedded(List<ClassScore> classes, ImmutableDoubleArray embedding) {

        public Embedded {
            classes = List.copyOf(classes);
        }
    }

    /** Returns probabilities and embedding of an image from one forward pass. */
    public Embedded classifyWithEmbedding(ImageSource image) {
        return compute(
                (model, scratch) -> {
                    try (InferenceInput input = reader().read(List.of(image))) {
                        ImageBatch batch = input.to(scratch).get(0);
                        return Model.withoutGradients(() -> embedded(model, batch));
                    }
                },
                () -> "");
    }

    private Embedded embedded(Model<ClassScores> model, ImageBatch batch) {
        FeaturePyramid features = model.features(batch.pixels());
        List<ClassScores> scores = ((ClassificationModel) model).scores(features);
        return new Embedded(
                ClassScore.top(scores.get(0), classes(), classes().size()),
                ImmutableDoubleArray.copyOf(means(features)));
    }

    /** Returns the probabilities of each image; predicts several at the same time. */
    public List<List<ClassScore>> classify(List<ImageSource> images) {
        return predictEach(images, this::classify);
    }
}
