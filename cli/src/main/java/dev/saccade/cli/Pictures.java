package dev.saccade.cli;

import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Canvas;
import dev.saccade.datasets.ImageReader;
import dev.saccade.datasets.ImageWriter;
import dev.saccade.datasets.LabelCanvas;
import dev.saccade.datasets.Sample;

import org.opencv.core.Mat;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Writes photographs with what they show into a folder, under names that do not collide. */
final class Pictures {

    private final Path folder;
    private final List<String> classes;
    private final Set<String> taken = new HashSet<>();

    Pictures(Path folder, List<String> classes) {
        this.folder = folder;
        this.classes = classes;
    }

    /** Writes a photograph with objects in its own pixels. */
    void write(Path photo, Instances instances) {
        Mat image = ImageReader.read(photo);
        try {
            Canvas.draw(image, instances, classes);
            ImageWriter.write(image, folder.resolve(name(photo) + ".jpg"));
        } finally {
            image.release();
        }
    }

    /**
     * Writes a photograph under the colours of its classes, and their labels as a PNG of the same
     * name in the folder {@code labels}, as {@link ImageWriter#writeLabels} does.
     */
    void write(Path photo, LabelMap labels) {
        String name = name(photo);
        Mat image = ImageReader.read(photo);
        Mat picture = LabelCanvas.picture(image, labels, classes);
        try {
            ImageWriter.write(picture, folder.resolve(name + ".jpg"));
        } finally {
            picture.release();
            image.release();
        }
        Path file = folder.resolve("labels").resolve(name + ".png");
        ImageWriter.writeLabels(labels, classes.size(), file);
    }

    /** Writes a sample as its transforms left it. */
    void write(Sample sample) {
        Mat picture = Canvas.picture(sample, classes);
        try {
            String name = name(Path.of(sample.info().file()));
            ImageWriter.write(picture, folder.resolve(name + ".jpg"));
        } finally {
            picture.release();
        }
    }

    private String name(Path photo) {
        String stem = photo.getFileName().toString().replaceFirst("\\.[^.]*$", "");
        String name = stem;
        for (int i = 2; !taken.add(name); i++) {
            name = stem + "_" + i;
        }
        return name;
    }
}
