package dev.saccade.report.predictions;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.PixelFile;
import dev.saccade.models.ClassMap;
import dev.saccade.models.ClassScore;
import dev.saccade.models.Classifier;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.PredictionJson;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.Segmenter;
import dev.saccade.models.TrainedModel;

import org.opencv.core.Mat;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Predicts images, draws the predictions and returns them as JSON. The model stays open. */
public record PredictionWriter(
        TrainedModel<?> model, Pictures pictures, ScoreThresholds thresholds) {

    /** Number of classes listed for an image. */
    private static final int CLASSES = 5;

    /** Creates a writer that uses the model's recommended score thresholds. */
    public PredictionWriter(TrainedModel<?> model, Pictures pictures) {
        this(
                model,
                pictures,
                model.match(
                        detector -> detector.scoreThresholds().uniform(),
                        segmenter -> ScoreThresholds.DEFAULT,
                        classifier -> ScoreThresholds.DEFAULT));
    }

    /**
     * Predicts an image, which is decoded once if it is 8-bit RGB. Files that are too large to be
     * decoded as a whole have no picture.
     */
    public JsonNode write(ImageSource image) {
        Optional<Size> large = sizeIfTooLarge(image);
        if (large.isPresent()) {
            if (pictures.isDrawing()) {
                image.warn("has no picture, because it is too large to be drawn");
            }
            PredictionWriter plain =
                    new PredictionWriter(model, pictures.withoutPictures(), thresholds);
            return plain.write(
                    ImmutableMap.of("image", image.name()),
                    image,
                    image,
                    large.get(),
                    plain::objects);
        }
        Mat pixels = read(image);
        try {
            ImageSource decoded = ImageSource.of(image.name(), pixels);
            boolean isRgb8 = model.spec().pixels().isRgb8();
            return write(
                    ImmutableMap.of("image", image.name()),
                    isRgb8 ? decoded : image,
                    decoded,
                    sizeOf(pixels),
                    (detector, given, size) -> objects(detector, given, decoded, size));
        } finally {
            pixels.release();
        }
    }

    private Optional<Size> sizeIfTooLarge(ImageSource image) {
        try (PixelFile file = image.open(model.spec().pixels()).orElse(null)) {
            return Optional.ofNullable(file)
                    .filter(each -> !each.fitsMemory())
                    .map(PixelFile::size);
        }
    }

    /** Reads an image; an unreadable file is a user error, like a damaged image. */
    private Mat read(ImageSource image) {
        try {
            return image.display(model.spec().pixels()).read();
        } catch (SaccadeException e) {
            throw e.kind() == SaccadeException.Kind.IO
                    ? SaccadeException.user(e, "%s", e.getMessage())
                    : e;
        }
    }

    /** Predicts the objects of an image of a size with a detector; returns their JSON. */
    @FunctionalInterface
    interface ObjectWriter {
        Map<String, Object> write(Detector detector, ImageSource image, Size size);
    }

    /** Predicts pixels [H, W, 3] BGR uint8; the JSON starts with {@code source}. */
    JsonNode write(Map<String, Object> source, String name, Mat pixels, ObjectWriter objects) {
        ImageSource image = ImageSource.of(name, pixels);
        return write(source, image, image, sizeOf(pixels), objects);
    }

    private static Size sizeOf(Mat pixels) {
        return new Size(pixels.rows(), pixels.cols());
    }

    private JsonNode write(
            Map<String, Object> source,
            ImageSource image,
            ImageSource shown,
            Size size,
            ObjectWriter objects) {
        Map<String, Object> prediction =
                model.match(
                        detector -> objects.write(detector, image, size),
                        segmenter -> regions(segmenter, image, shown),
                        classifier -> classes(classifier, image, shown, size));
        return Predictions.JSON.valueToTree(
                ImmutableMap.builder().putAll(source).putAll(prediction).buildOrThrow());
    }

    /** Predicts the objects of an image without tracking. */
    Map<String, Object> objects(Detector detector, ImageSource image, Size size) {
        return objects(detector, image, image, size);
    }

    private Map<String, Object> objects(
            Detector detector, ImageSource image, ImageSource shown, Size size) {
        Instances found = thresholds.select(detector.predict(image), detector.classes());
        return ImmutableMap.<String, Object>builder()
                .putAll(pictures.write(shown, found))
                .putAll(
                        PredictionJson.of(
                                size,
                                DetectedObject.of(found, detector.classes()),
                                PredictionJson::rle))
                .buildOrThrow();
    }

    private Map<String, Object> regions(Segmenter segmenter, ImageSource image, ImageSource shown) {
        ClassMap map = segmenter.segment(image);
        return ImmutableMap.<String, Object>builder()
                .putAll(pictures.write(shown, map))
                .putAll(PredictionJson.of(map, PredictionJson::rle))
                .buildOrThrow();
    }

    private Map<String, Object> classes(
            Classifier classifier, ImageSource image, ImageSource shown, Size size) {
        List<ClassScore> scores =
                ClassScore.top(classifier.predict(image), classifier.classes(), CLASSES);
        return ImmutableMap.<String, Object>builder()
                .putAll(pictures.write(shown, scores))
                .putAll(PredictionJson.of(size, scores))
                .buildOrThrow();
    }
}
