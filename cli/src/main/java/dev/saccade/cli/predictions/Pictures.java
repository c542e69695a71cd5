package dev.saccade.cli.predictions;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.MoreFiles;

import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.ClassMap;
import dev.saccade.models.draw.Canvas;
import dev.saccade.models.draw.Jpeg;
import dev.saccade.models.draw.LabelCanvas;
import dev.saccade.report.runs.ShownPhoto;

import org.opencv.core.Mat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Writes photographs with what they show into a folder, under names that do not collide. */
public final class Pictures {

    private static final int THUMBNAIL_EDGE = 320;

    /** What is drawn on photographs. */
    public enum Drawn {
        NOTHING,
        WITHOUT_LABELS,
        WITH_LABELS
    }

    private final Optional<MadeFolder> folder;
    private final List<String> classes;
    private final Drawn drawn;
    private final Set<String> taken = new HashSet<>();
    private final Map<String, String> reserved = new HashMap<>();

    public Pictures(MadeFolder folder, List<String> classes) {
        this(Optional.of(folder), classes, Drawn.WITH_LABELS);
    }

    /**
     * Prepares writing into a folder.
     *
     * @param folder output folder; empty to write no files
     * @param drawn what pictures show; with nothing, label maps are written alone
     */
    public Pictures(Optional<MadeFolder> folder, List<String> classes, Drawn drawn) {
        this.folder = folder;
        this.classes = classes;
        this.drawn = drawn;
    }

    /**
     * Writes a photograph with objects in its own pixels.
     *
     * @return what was written, by what it is
     */
    public Map<String, String> write(ImageSource photo, Instances instances) {
        if (folder.isEmpty() || drawn == Drawn.NOTHING) {
            return Map.of();
        }
        return Map.of(
                "picture",
                write(
                        name(photo.name()),
                        photo,
                        image -> {
                            Mat picture = image.clone();
                            if (drawn == Drawn.WITH_LABELS) {
                                Canvas.draw(picture, instances, classes);
                            } else {
                                Canvas.draw(picture, instances);
                            }
                            return picture;
                        }));
    }

    /**
     * Writes a photograph under the colors of its classes, and their labels as a PNG of the same
     * name in the folder {@code labels}, as {@link ClassMap#toPng} does.
     *
     * @return what was written, by what it is
     */
    public Map<String, String> write(ImageSource photo, ClassMap map) {
        if (folder.isEmpty()) {
            return Map.of();
        }
        String name = name(photo.name());
        ImmutableMap.Builder<String, String> written = ImmutableMap.builder();
        if (drawn != Drawn.NOTHING) {
            written.put(
                    "picture",
                    write(
                            name,
                            photo,
                            image ->
                                    drawn == Drawn.WITH_LABELS
                                            ? LabelCanvas.picture(image, map.labels(), classes)
                                            : LabelCanvas.tinted(image, map.labels(), classes)));
        }
        folder.get().write(labels(name), map.toPng());
        return written.put("labels", labels(name)).buildOrThrow();
    }

    /** Writes what is drawn of a photograph. */
    private String write(String name, ImageSource photo, UnaryOperator<Mat> draw) {
        Mat image = photo.read();
        Mat picture = draw.apply(image);
        image.release();
        try {
            folder.orElseThrow().write(picture(name), Jpeg.encode(picture));
        } finally {
            picture.release();
        }
        return picture(name);
    }

    /**
     * Writes a sample as its transforms left it, and a small picture of it.
     *
     * @return the name by which {@link #picture} and {@link #thumbnail} find them
     */
    public String write(Sample sample) {
        Mat picture = Canvas.picture(sample, classes);
        try {
            String name = name(sample.info().file());
            folder.orElseThrow().write(picture(name), Jpeg.encode(picture));
            ShownPhoto.shrink(picture, THUMBNAIL_EDGE);
            folder.orElseThrow().write(thumbnail(name), Jpeg.encode(picture));
            return name;
        } finally {
            picture.release();
        }
    }

    /**
     * Gives photographs their names before any is written, for several ranks that write into one
     * folder.
     *
     * @param photos the names of all of them, the same on all ranks
     */
    public void reserve(Iterable<String> photos) {
        for (String photo : photos) {
            reserved.computeIfAbsent(photo, this::unused);
        }
    }

    private String name(String photo) {
        return reserved.containsKey(photo) ? reserved.get(photo) : unused(photo);
    }

    private String unused(String photo) {
        String stem = MoreFiles.getNameWithoutExtension(Path.of(photo));
        String name = stem;
        for (int i = 2; !isFree(name); i++) {
            name = stem + "_" + i;
        }
        taken.add(name);
        return name;
    }

    private boolean isFree(String name) {
        return !taken.contains(name)
                && folder.stream()
                        .noneMatch(made -> made.has(picture(name)) || made.has(labels(name)));
    }

    /** Returns the file of a picture, from the folder on. */
    public static String picture(String name) {
        return name + ".jpg";
    }

    /** Returns the file of a small picture, from the folder on. */
    public static String thumbnail(String name) {
        return "thumbnails/" + name + ".jpg";
    }

    private static String labels(String name) {
        return "labels/" + name + ".png";
    }
}
