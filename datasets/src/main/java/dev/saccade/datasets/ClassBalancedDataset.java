package dev.saccade.datasets;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Lists;
import com.google.common.collect.Multiset;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.Checks;
import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.LabelMap;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Repeats images of rare classes (Gupta et al. 2019, LVIS; mmengine's {@code
 * ClassBalancedDataset}).
 *
 * <p>The repeat factor of a class is {@code max(1, sqrt(t / f))}, where {@code f} is the fraction
 * of training images of the class, or with usable objects or crowds of the class. An image occurs
 * as often as the largest factor of its classes, rounded up, or once if it has none or is not
 * trained on. Repetitions are consecutive and augmented independently.
 */
public final class ClassBalancedDataset implements Dataset {

    private static final String NAME = "class_balanced";

    private final Dataset dataset;

    /** [N] indices into the wrapped data set, ascending. */
    private final ImmutableIntArray positions;

    /**
     * Settings of the wrapped data set and its repetition.
     *
     * @param oversampleThreshold {@code t}; classes in a smaller fraction of the images are rare
     * @param filterEmptyGt whether images without objects occur once; otherwise they count as one
     *     more class
     */
    @Component(NAME)
    public record Config(
            @Default("{type: coco}") Dataset.Config dataset,
            @Default("0.001") double oversampleThreshold,
            @Default("true") boolean filterEmptyGt)
            implements Dataset.Config {

        public Config {
            new Checks().above("oversample_threshold", oversampleThreshold, 0, 1).throwIfAny();
            Checks.require(
                    !dataset.repeatsImages(),
                    "dataset",
                    dataset.type(),
                    "a data set without repeated images; put class_balanced inside of"
                            + " repeated_augmentation, and only once");
        }

        @Override
        public ClassBalancedDataset open(Path root) {
            return new ClassBalancedDataset(dataset.open(root), oversampleThreshold, filterEmptyGt);
        }

        @Override
        public DatasetReport check(Path root, CheckOptions options) {
            DatasetReport report = dataset.check(root, options);
            boolean hasObjects =
                    report.statistics() instanceof ObjectStatistics statistics
                            && statistics.objects().trained() > 0;
            if (report.errors() == 0 && !hasObjects) {
                try {
                    open(root);
                } catch (SaccadeException e) {
                    return report.withError(Finding.error(NAME, e));
                }
            }
            return report;
        }

        @Override
        public boolean repeatsImages() {
            return true;
        }

        @Override
        public boolean lacksLabels() {
            return dataset.lacksLabels();
        }

        @Override
        public List<String> knownClasses() {
            return dataset.knownClasses();
        }
    }

    /** Wraps a data set that must not change; throws if it has no objects. */
    public ClassBalancedDataset(
            Dataset dataset, double oversampleThreshold, boolean filterEmptyGt) {
        this.dataset = dataset;
        List<Set<Integer>> classesOf = new ArrayList<>();
        Multiset<Integer> counts = HashMultiset.create();
        int trained = 0;
        boolean isAnnotated = false;
        boolean hasObjects = false;
        for (int i = 0; i < dataset.size(); i++) {
            ImageFile image = dataset.image(i);
            OptionalInt label = dataset.label(i);
            List<Annotation> annotations = dataset.annotations(i);
            boolean isTrained = label.isPresent() || TrainingTargets.keeps(image, annotations);
            Set<Integer> classes =
                    isTrained ? TrainingTargets.classes(image, annotations) : Set.of();
            classes = label.isPresent() ? Set.of(label.getAsInt()) : classes;
            trained += isTrained ? 1 : 0;
            isAnnotated |= !annotations.isEmpty();
            hasObjects |= !classes.isEmpty();
            boolean isOwnClass = isTrained && classes.isEmpty() && !filterEmptyGt;
            classesOf.add(isOwnClass ? Set.of(dataset.classes().size()) : classes);
            counts.addAll(classesOf.get(i));
        }
        if (!hasObjects) {
            throw SaccadeException.user(
                    "class_balanced: requires labeled objects, but %s; remove class_balanced for"
                            + " data sets of label maps",
                    isAnnotated || dataset.size() == 0
                            ? ObjectStatistics.emptyReason(dataset.size(), dataset.classes())
                            : Text.format(
                                    "none of %s has an object", Count.of(dataset.size(), "image")));
        }
        ImmutableIntArray.Builder repeated = ImmutableIntArray.builder();
        for (int i = 0; i < classesOf.size(); i++) {
            double repeats = 1;
            for (int label : classesOf.get(i)) {
                double fraction = counts.count(label) / (double) trained;
                repeats = Math.max(repeats, Math.sqrt(oversampleThreshold / fraction));
            }
            for (int k = 0; k < Math.ceil(repeats); k++) {
                repeated.add(i);
            }
        }
        this.positions = repeated.build();
    }

    @Override
    public List<String> classes() {
        return dataset.classes();
    }

    @Override
    public long categoryId(int label) {
        return dataset.categoryId(label);
    }

    @Override
    public List<ImageFile> images() {
        return Lists.transform(positions.asList(), dataset::image);
    }

    @Override
    public int repetition(int index) {
        int position = positions.get(index);
        int first = index;
        while (first > 0 && positions.get(first - 1) == position) {
            first--;
        }
        return index - first;
    }

    @Override
    public List<Annotation> annotations(int index) {
        return dataset.annotations(positions.get(index));
    }

    @Override
    public OptionalInt label(int index) {
        return dataset.label(positions.get(index));
    }

    @Override
    public int semanticClasses() {
        return dataset.semanticClasses();
    }

    @Override
    public LabelMap labels(int index) {
        return dataset.labels(positions.get(index));
    }
}
