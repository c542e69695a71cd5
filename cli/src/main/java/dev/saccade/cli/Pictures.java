package dev.saccade.cli;

import com.google.common.io.MoreFiles;

import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.ClassMap;
import dev.saccade.report.draw.Canvas;
import dev.saccade.report.draw.Jpeg;
import dev.saccade.report.draw.LabelCanvas;

import org.opencv.core.Mat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Writes photographs with what they show into a folder, under names that do not collide. */
final class Pictures {

    private static final int THUMBNAIL_EDGE = 320;

    private final MadeFolder folder;
    private final List<String> classes;
    private final boolean drawn;
    private final Set<String> taken = new HashSet<>();
    private final Map<String, String> reserved = new HashMap<>();

    Pictures(MadeFolder folder, List<String> classes) {
        this(folder, classes, true);
    }

    /**
     * Prepares writing into a folder.
     *
     * @param drawn whether there are pictures, and not label maps alone
     */
    Pictures(MadeFolder folder, List<String> classes, boolean drawn) {
        this.folder = folder;
        this.classes = classes;
        this.drawn = drawn;
    }

    /** Writes a photograph with objects in its own pixels. */
    void write(ImageSource photo, Instances instances) {
        if (!drawn) {
            return;
        }
        Mat image = photo.read();
        Mat picture = image.clone();
        image.release();
        try {
            Canvas.draw(picture, instances, classes);
            folder.write(picture(name(photo.name())), Jpeg.encode(picture));
        } finally {
            picture.release();
        }
    }

    /**
     * Writes a photograph under the colors of its classes, and their labels as a PNG of the same
     * name in the folder {@code labels}, as {@link ClassMap#toPng} does.
     */
    void write(ImageSource photo, ClassMap map) {
        String name = name(photo.name());
        if (drawn) {
            draw(photo, map, name);
        }
        folder.write(labels(name), map.toPng());
    }

    private void draw(ImageSource photo, ClassMap map, String name) {
        Mat image = photo.read();
        Mat picture = LabelCanvas.picture(image, map.labels(), classes);
        try {
            folder.write(picture(name), Jpeg.encode(picture));
        } finally {
            picture.release();
            image.release();
        }
    }

    /**
     * Writes a sample as its transforms left it, and a small picture of it.
     *
     * @return the name by which {@link #picture} and {@link #thumbnail} find them
     */
    String write(Sample sample) {
        Mat picture = Canvas.picture(sample, classes);
        try {
            String name = name(sample.info().file());
            folder.write(picture(name), Jpeg.encode(picture));
            ShownPhoto.shrink(picture, THUMBNAIL_EDGE);
            folder.write(thumbnail(name), Jpeg.encode(picture));
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
    void reserve(Iterable<String> photos) {
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
        return !taken.contains(name) && !folder.has(picture(name)) && !folder.has(labels(name));
    }

    /** Returns the file of a picture, from the folder on. */
    static String picture(String name) {
        return name + ".jpg";
    }

    /** Returns the file of a small picture, from the folder on. */
    static String thumbnail(String name) {
        return "thumbnails/" + name + ".jpg";
    }

    private static String labels(String name) {
        return "labels/" + name + ".png";
    }
}
