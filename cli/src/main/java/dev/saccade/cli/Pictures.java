package dev.saccade.cli;

import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Canvas;
import dev.saccade.datasets.ImageReader;
import dev.saccade.datasets.ImageWriter;
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
            ImageWriter.write(image, target(photo));
        } finally {
            image.release();
        }
    }

    /** Writes a sample as its transforms left it. */
    void write(Sample sample) {
        Mat picture = Canvas.picture(sample, classes);
        try {
            ImageWriter.write(picture, target(Path.of(sample.info().file())));
        } finally {
            picture.release();
        }
    }

    private Path target(Path photo) {
        String stem = photo.getFileName().toString().replaceFirst("\\.[^.]*$", "");
        String name = stem;
        for (int i = 2; !taken.add(name); i++) {
            name = stem + "_" + i;
        }
        return folder.resolve(name + ".jpg");
    }
}
