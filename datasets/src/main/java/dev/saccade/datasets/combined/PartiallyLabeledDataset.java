package dev.saccade.datasets.combined;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.check.DatasetCheck;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Validation images whose labels contain some of the classes of a detector. For every other class,
 * an image has a crowd that covers it, so that evaluations ignore detections of the class. The AP
 * of a class is therefore its AP on the images that are labeled for it.
 */
public final class PartiallyLabeledDataset implements Dataset {

    private static final String NAME = "partially_labeled";

    private final Dataset dataset;
    private final ImmutableList<String> classes;
    private final Set<String> labeled;
    private final long firstCrowdId;

    /**
     * Settings of the wrapped data set.
     *
     * @param classes all classes of the detector; by default, the classes of the wrapped data set
     * @param labeled classes of which every object is labeled, by default all that the wrapped data
     *     set has; labels of other classes are ignored
     * @param root folder of the wrapped data set, below the root of this one; its root by default
     */
    @Component(NAME)
    public record Config(
            @Default("{type: coco}") Dataset.Config dataset,
            @Default("[]") List<String> classes,
            @Default("[]") List<String> labeled,
            Optional<Path> root)
            implements Dataset.Config {

        public Config {
            classes = List.copyOf(classes);
            labeled = List.copyOf(labeled);
            Checks.require(
                    classes.isEmpty() || Set.copyOf(classes).containsAll(labeled),
                    "labeled",
                    labeled,
                    "some of the classes %s",
                    classes);
        }

        private Path folder(Path parent) {
            return root.map(parent::resolve).orElse(parent);
        }

        @Override
        public PartiallyLabeledDataset open(Path parent) {
            Dataset opened = dataset.open(folder(parent));
            List<String> all = classes.isEmpty() ? opened.classes() : classes;
            List<String> both = all.stream().filter(opened.classes()::contains).toList();
            return new PartiallyLabeledDataset(opened, all, labeled.isEmpty() ? both : labeled);
        }

        /** Checks the label files of the wrapped data set, then the images. */
        @Override
        public DatasetReport check(Path parent, CheckOptions options) {
            DatasetReport report = dataset.check(folder(parent), options.ofLabelFiles());
            return report.errors() > 0 ? report : DatasetCheck.run(open(parent), options);
        }

        @Override
        public boolean repeatsImages() {
            return dataset.repeatsImages();
        }

        @Override
        public boolean lacksLabels() {
            return true;
        }

        @Override
        public List<String> knownClasses() {
            return classes;
        }
    }

    /**
     * Wraps a data set, which must not change.
     *
     * @throws SaccadeException of kind user, if the data set lacks a labeled class
     */
    public PartiallyLabeledDataset(Dataset dataset, List<String> classes, List<String> labeled) {
        this.dataset = dataset;
        this.classes = ImmutableList.copyOf(classes);
        this.labeled = Set.copyOf(labeled);
        for (String name : labeled) {
            if (!dataset.classes().contains(name)) {
                throw SaccadeException.user(
                        "partially_labeled: class %s is not in the data set, which has %s; correct"
                                + " labeled",
                        name, dataset.classes());
            }
        }
        long id = 0;
        for (int i = 0; i < dataset.size(); i++) {
            for (Annotation annotation : dataset.annotations(i)) {
                id = Math.max(id, annotation.id());
            }
        }
        this.firstCrowdId = id + 1;
    }

    @Override
    public List<String> classes() {
        return classes;
    }

    @Override
    public List<ImageFile> images() {
        return dataset.images();
    }

    @Override
    public int size() {
        return dataset.size();
    }

    @Override
    public ImageFile image(int index) {
        return dataset.image(index);
    }

    @Override
    public int repetition(int index) {
        return dataset.repetition(index);
    }

    @Override
    public List<Annotation> annotations(int index) {
        List<Annotation> annotations = new ArrayList<>();
        for (Annotation annotation : dataset.annotations(index)) {
            if (annotation.label() >= 0) {
                String name = dataset.classes().get(annotation.label());
                int label = labeled.contains(name) ? classes.indexOf(name) : -1;
                annotations.add(annotation.with(annotation.id(), label));
            }
        }
        Size size = dataset.image(index).size();
        Rle everything = Rle.fromBox(size, 0, 0, size.width(), size.height());
        for (int label = 0; label < classes.size(); label++) {
            if (!labeled.contains(classes.get(label))) {
                long id = firstCrowdId + (long) index * classes.size() + label;
                Annotation whole = Annotation.of(id, label, everything);
                annotations.add(
                        new Annotation(
                                id,
                                label,
                                whole.box(),
                                whole.area(),
                                whole.segmentation(),
                                Set.of(Annotation.Flag.CROWD)));
            }
        }
        return annotations;
    }
}
