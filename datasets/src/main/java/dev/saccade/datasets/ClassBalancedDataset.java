package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Lists;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.Checks;
import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.LabelMap;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A data set that shows photographs of rare classes several times (Gupta et al. 2019, LVIS;
 * mmengine's {@code ClassBalancedDataset}).
 *
 * <p>A class that the share {@code f} of the photographs shows has {@code max(1, sqrt(t / f))}
 * repeats, and a photograph, rounded up, the most of its classes. All that are trained on count; an
 * object counts if it is learned or a crowd. Photographs that are not trained on come once.
 * Repetitions follow one another; in training each is augmented with draws of its own.
 */
public final class ClassBalancedDataset implements Dataset {

    private static final String NAME = "class_balanced";

    private final Dataset dataset;

    /** [N] positions in the other data set, ascending. */
    private final ImmutableIntArray positions;

    /**
     * Which data set is shown, and how often.
     *
     * @param dataset the data set
     * @param oversampleThreshold the share of photographs below which a class is rare, {@code t}
     * @param filterEmptyGt whether photographs without such an object come once; otherwise they
     *     count as a class of their own
     */
    @Part(NAME)
    public record Config(
            @Default("{type: coco}") Dataset.Config dataset,
            @Default("0.001") double oversampleThreshold,
            @Default("true") boolean filterEmptyGt)
            implements Dataset.Config {

        /** Checks the threshold, and that nothing is repeated twice. */
        public Config {
            new Checks().above("oversample_threshold", oversampleThreshold, 0, 1).throwIfAny();
            Checks.require(
                    !(dataset instanceof Config),
                    "dataset",
                    dataset.type(),
                    "the data set that is balanced; class_balanced goes around it once");
        }

        @Override
        public ClassBalancedDataset open(Path root) {
            return new ClassBalancedDataset(dataset.open(root), oversampleThreshold, filterEmptyGt);
        }

        /** Says what the files hold: nothing counts twice. */
        @Override
        public DatasetReport check(Path root, CheckOptions options) {
            DatasetReport report = dataset.check(root, options);
            if (report.errors() > 0 || hasLearnedObjects(report.statistics())) {
                return report;
            }
            try {
                open(root);
                return report;
            } catch (SaccadeException e) {
                return report.withError(Finding.error(NAME, e));
            }
        }

        /** Returns whether there is something to count, without a second look at the files. */
        private static boolean hasLearnedObjects(DatasetStatistics statistics) {
            return statistics instanceof ObjectStatistics held && held.objects().learned() > 0;
        }

        @Override
        public List<String> knownClasses() {
            return dataset.knownClasses();
        }
    }

    /**
     * Shows a data set.
     *
     * @param dataset which does not change any more
     * @param oversampleThreshold the share of photographs below which a class is rare
     * @param filterEmptyGt whether photographs without objects come once
     * @throws SaccadeException of kind user, if no photograph shows an object
     */
    public ClassBalancedDataset(
            Dataset dataset, double oversampleThreshold, boolean filterEmptyGt) {
        this.dataset = dataset;
        ImmutableList.Builder<Set<Integer>> all = ImmutableList.builder();
        Map<Integer, Integer> counts = new HashMap<>();
        int trained = 0;
        boolean isAnnotated = false;
        boolean showsObjects = false;
        for (int i = 0; i < dataset.size(); i++) {
            ImageFile photo = dataset.image(i);
            List<Annotation> annotations = dataset.annotations(i);
            boolean isTrained = TrainingTargets.keeps(photo, annotations);
            Set<Integer> classes =
                    isTrained ? TrainingTargets.classes(photo, annotations) : Set.of();
            isAnnotated |= !annotations.isEmpty();
            showsObjects |= !classes.isEmpty();
            if (isTrained && classes.isEmpty() && !filterEmptyGt) {
                classes = Set.of(dataset.classes().size());
            }
            trained += isTrained ? 1 : 0;
            classes.forEach(label -> counts.merge(label, 1, Integer::sum));
            all.add(classes);
        }
        if (!showsObjects) {
            throw SaccadeException.user(
                    "class_balanced: counts labeled objects, but %s; data whose pixels are labeled"
                            + " are named without class_balanced",
                    isAnnotated || dataset.size() == 0
                            ? ObjectStatistics.whyNothing(dataset.size(), dataset.classes())
                            : Text.format(
                                    "none of %s has any", Count.of(dataset.size(), "photograph")));
        }
        this.positions = repeated(all.build(), counts, trained, oversampleThreshold);
    }

    private static ImmutableIntArray repeated(
            List<Set<Integer>> classes,
            Map<Integer, Integer> counts,
            double photographs,
            double threshold) {
        ImmutableIntArray.Builder positions = ImmutableIntArray.builder();
        for (int i = 0; i < classes.size(); i++) {
            double repeats =
                    classes.get(i).stream()
                            .mapToDouble(label -> counts.get(label) / photographs)
                            .map(share -> Math.sqrt(threshold / share))
                            .reduce(1, Math::max);
            for (int k = 0; k < Math.ceil(repeats); k++) {
                positions.add(i);
            }
        }
        return positions.build();
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
    public int semanticClasses() {
        return dataset.semanticClasses();
    }

    @Override
    public LabelMap labels(int index) {
        return dataset.labels(positions.get(index));
    }
}
