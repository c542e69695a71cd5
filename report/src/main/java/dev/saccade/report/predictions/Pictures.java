package dev.saccade.report.predictions;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.MoreFiles;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.Composite;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.models.ClassMap;
import dev.saccade.models.ClassScore;
import dev.saccade.models.draw.ClassCanvas;
import dev.saccade.models.draw.Jpeg;
import dev.saccade.models.draw.LabelCanvas;
import dev.saccade.models.draw.ObjectCanvas;
import dev.saccade.report.runs.ImageScaling;

import org.opencv.core.Mat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** Writes pictures of predictions or samples into a folder, under unique names. */
public final class Pictures {

    private static final int THUMBNAIL_EDGE = 320;

    public enum Style {
        NONE,
        WITHOUT_LABELS,
        WITH_LABELS
    }

    private final Optional<OutputFolder> folder;
    private final List<String> classes;
    private final Style style;
    private final Set<String> taken;
    private final Map<String, String> reserved;

    public Pictures(OutputFolder folder, List<String> classes) {
        this(Optional.of(folder), classes, Style.WITH_LABELS);
    }

    /**
     * Creates a writer. Without a folder it writes nothing; {@code NONE} writes label maps only.
     */
    public Pictures(Optional<OutputFolder> folder, List<String> classes, Style style) {
        this(folder, classes, style, ConcurrentHashMap.newKeySet(), new HashMap<>());
    }

    private Pictures(
            Optional<OutputFolder> folder,
            List<String> classes,
            Style style,
            Set<String> taken,
            Map<String, String> reserved) {
        this.folder = folder;
        this.classes = classes;
        this.style = style;
        this.taken = taken;
        this.reserved = reserved;
    }

    /** Returns a writer of label maps only, whose file names are unique together with these. */
    Pictures withoutPictures() {
        return new Pictures(folder, classes, Style.NONE, taken, reserved);
    }

    boolean isDrawing() {
        return folder.isPresent() && style != Style.NONE;
    }

    /** Writes a picture with the objects. Returns the JSON entry of the file, if any. */
    Map<String, String> write(ImageSource image, Instances instances) {
        if (!isDrawing()) {
            return Map.of();
        }
        boolean labels = style == Style.WITH_LABELS;
        String file =
                write(
                        name(image.name()),
                        image,
                        pixels -> {
                            Mat picture = pixels.clone();
                            ObjectCanvas.draw(picture, instances, classes, labels);
                            return picture;
                        });
        return Map.of("picture", file);
    }

    /** Writes a picture with tracked objects and counts. Returns its JSON entry, if any. */
    Map<String, String> write(
            ImageSource image, Instances instances, List<Integer> ids, Consumer<Mat> counts) {
        if (!isDrawing()) {
            return Map.of();
        }
        UnaryOperator<Mat> draw =
                pixels -> {
                    Mat picture = pixels.clone();
                    boolean labels = style == Style.WITH_LABELS;
                    ObjectCanvas.drawTracks(picture, instances, ids, classes, labels);
                    counts.accept(picture);
                    return picture;
                };
        return Map.of("picture", write(name(image.name()), image, draw));
    }

    /** Draws a segmentation and writes {@code labels/NAME.png}. Returns the files by JSON key. */
    Map<String, String> write(ImageSource image, ClassMap map) {
        if (folder.isEmpty()) {
            return Map.of();
        }
        String name = name(image.name());
        ImmutableMap.Builder<String, String> written = ImmutableMap.builder();
        if (style != Style.NONE) {
            boolean legend = style == Style.WITH_LABELS;
            UnaryOperator<Mat> draw =
                    pixels -> LabelCanvas.draw(pixels, map.labels(), classes, legend);
            written.put("picture", write(name, image, draw));
        }
        String labels = "labels/" + name + ".png";
        folder.get().write(labels, map.toPng());
        return written.put("labels", labels).buildOrThrow();
    }

    /** Writes a picture with the best classes. Returns the JSON entry of the file, if any. */
    Map<String, String> write(ImageSource image, List<ClassScore> scores) {
        if (!isDrawing()) {
            return Map.of();
        }
        boolean labels = style == Style.WITH_LABELS;
        UnaryOperator<Mat> draw =
                pixels -> labels ? ClassCanvas.draw(pixels, scores) : pixels.clone();
        return Map.of("picture", write(name(image.name()), image, draw));
    }

    private String write(String name, ImageSource image, UnaryOperator<Mat> draw) {
        Mat pixels = image.read();
        Mat picture = draw.apply(pixels);
        pixels.release();
        try {
            folder.orElseThrow().write(picture(name), Jpeg.encode(picture));
        } finally {
            picture.release();
        }
        return picture(name);
    }

    /** Writes an augmented sample and a thumbnail. Returns their name without extension. */
    public String write(Sample sample, PixelFormat format) {
        Mat picture = picture(sample, format);
        try {
            String name = name(sample.info().file());
            folder.orElseThrow().write(picture(name), Jpeg.encode(picture));
            ImageScaling.shrink(picture, THUMBNAIL_EDGE);
            folder.orElseThrow().write(thumbnail(name), Jpeg.encode(picture));
            return name;
        } finally {
            picture.release();
        }
    }

    private Mat picture(Sample sample, PixelFormat format) {
        if (format.isRgb8()) {
            return ObjectCanvas.picture(sample, classes);
        }
        try (Sample shown =
                new Sample(
                        Composite.of(sample.image(), format),
                        sample.info(),
                        sample.targets(),
                        sample.labels(),
                        sample.label(),
                        Optional.empty(),
                        false)) {
            return ObjectCanvas.picture(shown, classes);
        }
    }

    /**
     * Reserves a unique file name per image, so that several threads and ranks can write into one
     * folder, and names do not depend on the order of writing.
     */
    public void reserve(Iterable<String> images) {
        images.forEach(image -> reserved.computeIfAbsent(image, this::unused));
    }

    private String name(String image) {
        return reserved.containsKey(image) ? reserved.get(image) : unused(image);
    }

    /** Returns a file name, without extension, that no other image uses. */
    String unused(String image) {
        String stem = MoreFiles.getNameWithoutExtension(Path.of(image));
        String name = stem;
        for (int i = 2; !taken.add(name); i++) {
            name = stem + "_" + i;
        }
        return name;
    }

    public static String picture(String name) {
        return name + ".jpg";
    }

    public static String thumbnail(String name) {
        return "thumbnails/" + name + ".jpg";
    }
}
