package dev.saccade.eval;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.Segmentation;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A data set without pixels; category ids are 10 * class index + 1. */
public final class MemoryDataset implements Dataset {

    public static final Size SIZE = new Size(250, 300);

    private final List<String> classes;
    private final List<ImageFile> photos = new ArrayList<>();
    private final List<List<Annotation>> annotations = new ArrayList<>();
    private int nextId;

    public MemoryDataset(String... classes) {
        this.classes = ImmutableList.copyOf(classes);
    }

    public MemoryDataset addImage(long id) {
        photos.add(new ImageFile(id, Path.of(id + ".png"), SIZE));
        annotations.add(new ArrayList<>());
        return this;
    }

    /** Adds an object to the last image; annotation ids count from 0. */
    public MemoryDataset object(
            int label, double x, double y, double width, double height, double area) {
        return annotate(label, new Annotation.Bbox(x, y, width, height), area, Set.of());
    }

    /** Adds an object without a mask to the last image. */
    public MemoryDataset withoutMask(int label, double x, double y, double width, double height) {
        return annotate(Annotation.of(nextId++, label, x, y, width, height));
    }

    public MemoryDataset crowd(int label, double x, double y, double width, double height) {
        Annotation.Bbox box = new Annotation.Bbox(x, y, width, height);
        return annotate(label, box, box.area() * 6 / 8, Set.of(Annotation.Flag.CROWD));
    }

    private MemoryDataset annotate(
            int label, Annotation.Bbox box, double area, Set<Annotation.Flag> marks) {
        double right = box.x() + box.width();
        double bottom = box.y() + box.height();
        double[] ring = {box.x(), box.y(), right, box.y(), right, bottom, box.x(), bottom};
        Segmentation outline = new Segmentation.Polygons(List.of(ring));
        return annotate(new Annotation(nextId++, label, box, area, outline, marks));
    }

    private MemoryDataset annotate(Annotation annotation) {
        annotations.get(annotations.size() - 1).add(annotation);
        return this;
    }

    @Override
    public List<String> classes() {
        return classes;
    }

    @Override
    public long categoryId(int label) {
        return 10L * label + 1;
    }

    @Override
    public List<ImageFile> images() {
        return photos;
    }

    @Override
    public List<Annotation> annotations(int index) {
        return ImmutableList.copyOf(annotations.get(index));
    }
}
