package dev.saccade.models.draw;

import com.google.common.collect.ImmutableList;
import com.google.common.io.MoreFiles;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.ClassMap;
import dev.saccade.models.ClassScore;
import dev.saccade.models.DetectedObject;

import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.imgcodecs.Imgcodecs;

import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * Draws predictions on an image, like the command {@code predict}.
 *
 * <pre>{@code
 * Path image = Path.of("photo.jpg");
 * Drawing.of(image, detector.detect(image)).save(Path.of("found.jpg"));
 * }</pre>
 *
 * <p>The image is read and drawn by {@link #save} and {@link #toImage}, on every call.
 */
public final class Drawing {

    private static final List<String> FORMATS =
            List.of(".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff");

    private final ImageSource source;

    private final Artist artist;
    private final boolean labels;

    private Drawing(ImageSource source, Artist artist, boolean labels) {
        this.source = source;
        this.artist = artist;
        this.labels = labels;
    }

    /** Draws on a copy of an image, with or without labels; the caller releases the copy. */
    private interface Artist {
        Mat draw(Mat image, boolean labels);
    }

    /** Returns a drawing of boxes, names, scores and masks on an image file. */
    public static Drawing of(Path image, List<DetectedObject> objects) {
        return of(ImageSource.of(image), objects);
    }

    /** Returns a drawing of boxes, names, scores and masks on an image. */
    public static Drawing of(BufferedImage image, List<DetectedObject> objects) {
        return of(ImageSource.of(image), objects);
    }

    /** Returns a drawing of boxes, names, scores and masks on an image. */
    public static Drawing of(ImageSource source, List<DetectedObject> objects) {
        List<DetectedObject> bestFirst =
                objects.stream()
                        .sorted(Comparator.comparingDouble(DetectedObject::score).reversed())
                        .collect(ImmutableList.toImmutableList());
        return new Drawing(
                source,
                (image, labels) -> withObjects(image, source.name(), bestFirst, labels),
                true);
    }

    /** Returns a drawing that blends an image file with the class colors, with a legend. */
    public static Drawing of(Path image, ClassMap map) {
        return of(ImageSource.of(image), map);
    }

    /** Returns a drawing that blends an image with the class colors, with a legend. */
    public static Drawing of(BufferedImage image, ClassMap map) {
        return of(ImageSource.of(image), map);
    }

    /** Returns a drawing that blends an image with the class colors, with a legend below. */
    public static Drawing of(ImageSource source, ClassMap map) {
        return new Drawing(
                source,
                (image, labels) -> {
                    requireSize(map.labels().size(), image, source.name());
                    return LabelCanvas.draw(image, map.labels(), map.classes(), labels);
                },
                true);
    }

    /** Returns a drawing that lists classes with their probabilities below an image. */
    public static Drawing ofClasses(ImageSource source, List<ClassScore> scores) {
        return new Drawing(
                source,
                (image, labels) -> labels ? ClassCanvas.draw(image, scores) : image.clone(),
                true);
    }

    /** Returns a copy of this drawing without names, scores and legend. */
    public Drawing withoutLabels() {
        return new Drawing(source, artist, false);
    }

    private static Mat withObjects(
            Mat image, String name, List<DetectedObject> objects, boolean labels) {
        objects.stream()
                .flatMap(object -> object.mask().stream())
                .forEach(mask -> requireSize(mask.size(), image, name));
        Mat picture = image.clone();
        Instances instances = DetectedObject.toInstances(objects, sizeOf(image));
        ObjectCanvas.draw(picture, instances, names(objects), labels);
        return picture;
    }

    /** Returns class names by index; unused indices are empty. */
    private static List<String> names(List<DetectedObject> objects) {
        int classes = 1 + objects.stream().mapToInt(DetectedObject::classIndex).max().orElse(-1);
        String[] names = new String[classes];
        Arrays.fill(names, "");
        objects.forEach(object -> names[object.classIndex()] = object.label());
        return List.of(names);
    }

    private static Size sizeOf(Mat image) {
        return new Size(image.rows(), image.cols());
    }

    private static void requireSize(Size size, Mat image, String name) {
        if (!size.equals(sizeOf(image))) {
            throw SaccadeException.user(
                    "%s: is %s, but the predictions are for an image of %s; use the same image",
                    name, sizeOf(image), size);
        }
    }

    /**
     * Writes the drawing into a {@code .jpg}, {@code .jpeg}, {@code .png}, {@code .bmp}, {@code
     * .webp}, {@code .tif} or {@code .tiff} file; replaces an existing file.
     */
    public void save(Path file) {
        String format = "." + MoreFiles.getFileExtension(file).toLowerCase(Locale.ROOT);
        if (!FORMATS.contains(format)) {
            throw SaccadeException.user(
                    "%s: unsupported extension; expected %s", file, String.join(", ", FORMATS));
        }
        byte[] encoded = picture(picture -> encode(picture, format));
        try {
            Files.write(file, encoded);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        }
    }

    public BufferedImage toImage() {
        return picture(
                picture -> {
                    BufferedImage image =
                            new BufferedImage(
                                    picture.cols(), picture.rows(), BufferedImage.TYPE_3BYTE_BGR);
                    DataBufferByte pixels = (DataBufferByte) image.getRaster().getDataBuffer();
                    picture.get(0, 0, pixels.getData());
                    return image;
                });
    }

    private <T> T picture(Function<Mat, T> use) {
        Mat image = source.read();
        try {
            Mat picture = artist.draw(image, labels);
            try {
                return use.apply(picture);
            } finally {
                picture.release();
            }
        } finally {
            image.release();
        }
    }

    private static byte[] encode(Mat picture, String format) {
        if (format.equals(".jpg") || format.equals(".jpeg")) {
            return Jpeg.encode(picture);
        }
        MatOfByte encoded = new MatOfByte();
        try {
            Imgcodecs.imencode(format, picture, encoded);
            return encoded.toArray();
        } finally {
            encoded.release();
        }
    }
}
