package dev.saccade.datasets.loader;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.image.ImageFiles;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A data set of small images that a test writes to disk. */
public final class ImageFolder implements Dataset {

    private final Path folder;
    private final List<ImageFile> photos = new ArrayList<>();
    private final List<List<Annotation>> annotations = new ArrayList<>();

    public ImageFolder(Path folder) {
        this.folder = folder;
    }

    /** Adds an image with one object, a triangle, in its middle; ids count from 100. */
    public ImageFolder add(int width, int height) {
        return add(ImageFiles.jpeg(width, height), new Size(height, width));
    }

    public ImageFolder add(byte[] bytes, Size declared) {
        long id = 100L + photos.size();
        Path file = folder.resolve(id + ".jpg");
        try {
            Files.write(file, bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        photos.add(new ImageFile(id, file, declared));
        double width = declared.width() / 2.0;
        double height = declared.height() / 2.0;
        double[] corners = {
            width / 2, height / 2, 1.5 * width, height / 2, 1.5 * width, 1.5 * height
        };
        annotations.add(
                List.of(
                        new Annotation(
                                id,
                                1,
                                new Annotation.Bbox(width / 2, height / 2, width, height),
                                width * height,
                                new Segmentation.Polygons(List.of(corners)),
                                Set.of())));
        return this;
    }

    /** Gives the object of the last image another class. */
    public ImageFolder labeled(int label) {
        int last = photos.size() - 1;
        Annotation object = annotations.get(last).get(0);
        annotations.set(last, List.of(object.with(object.id(), label)));
        return this;
    }

    /** Makes the object of the last image too thin to be learned. */
    public ImageFolder thin() {
        annotations.set(photos.size() - 1, List.of(Annotation.of(1, 1, 4, 4, 0.5, 9)));
        return this;
    }

    /** Adds a crowd to the last image. */
    public ImageFolder addCrowd(double x, double y, double width, double height) {
        int last = photos.size() - 1;
        List<Annotation> objects = new ArrayList<>(annotations.get(last));
        objects.add(
                new Annotation(
                        objects.size(),
                        1,
                        new Annotation.Bbox(x, y, width, height),
                        width * height,
                        new Segmentation.None(),
                        Set.of(Annotation.Flag.CROWD)));
        annotations.set(last, objects);
        return this;
    }

    /** Adds an image without objects. */
    public ImageFolder addEmpty(int width, int height) {
        add(width, height);
        annotations.set(annotations.size() - 1, List.of());
        return this;
    }

    @Override
    public List<String> classes() {
        return List.of("cat", "dog");
    }

    @Override
    public List<ImageFile> images() {
        return photos;
    }

    @Override
    public List<Annotation> annotations(int index) {
        return annotations.get(index);
    }
}
