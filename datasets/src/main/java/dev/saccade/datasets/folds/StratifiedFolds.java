package dev.saccade.datasets.folds;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Multiset;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.Workers;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.TrainingTargets;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Assigns images to folds with balanced classes (iterative stratification, Sechidis et al. 2011).
 *
 * <p>Images are shuffled by a hash of seed and file name, so the folds do not depend on their order
 * or folder. Starting with the rarest class, each image goes to the fold with the fewest images of
 * this class, on ties to the fold with the fewest images.
 */
public final class StratifiedFolds {

    /** Label maps are read to balance their classes only up to this number of images. */
    private static final int MAX_LABEL_MAPS = 2000;

    private final int folds;
    private final List<Integer> shuffled;
    private final List<Set<Integer>> classesOf;
    private final int[] foldOf;
    private final int[] sizes;

    /** Number of images by class and fold. */
    private final int[][] counts;

    private StratifiedFolds(Dataset dataset, int folds, long seed) {
        this.folds = folds;
        shuffled = shuffle(dataset, seed);
        classesOf = classes(dataset);
        foldOf = new int[dataset.size()];
        Arrays.fill(foldOf, -1);
        sizes = new int[folds];
        counts = new int[dataset.classes().size()][folds];
    }

    /**
     * Returns the fold of each image.
     *
     * @throws SaccadeException of kind user, if there are more folds than images
     */
    public static int[] split(Dataset dataset, int folds, long seed) {
        if (dataset.size() < folds) {
            throw SaccadeException.user(
                    "fold: got %s for %s, expected at most one fold per image; lower folds",
                    Count.of(folds, "fold"), Count.of(dataset.size(), "image"));
        }
        return new StratifiedFolds(dataset, folds, seed).assign();
    }

    private static List<Integer> shuffle(Dataset dataset, long seed) {
        long[] hashes =
                IntStream.range(0, dataset.size())
                        .mapToObj(i -> dataset.image(i).file().getFileName().toString())
                        .mapToLong(name -> SeededRandom.of(seed, name).nextLong())
                        .toArray();
        return IntStream.range(0, hashes.length)
                .boxed()
                .sorted(
                        Comparator.<Integer>comparingLong(i -> hashes[i])
                                .thenComparing(i -> dataset.image(i).file()))
                .toList();
    }

    /** Returns the classes of each image, from its class, its objects or else its label map. */
    private static List<Set<Integer>> classes(Dataset dataset) {
        List<Set<Integer>> fromObjects =
                IntStream.range(0, dataset.size()).mapToObj(i -> classes(dataset, i)).toList();
        boolean hasObjects = fromObjects.stream().anyMatch(classes -> !classes.isEmpty());
        if (hasObjects || dataset.size() > MAX_LABEL_MAPS) {
            return fromObjects;
        }
        List<Set<Integer>> fromMaps = new ArrayList<>();
        try (Workers workers = new Workers("saccade-folds", availableProcessors())) {
            List<Callable<Set<Integer>>> tasks =
                    IntStream.range(0, dataset.size())
                            .<Callable<Set<Integer>>>mapToObj(i -> () -> mapClasses(dataset, i))
                            .toList();
            workers.run(tasks, fromMaps::add);
        }
        return fromMaps;
    }

    private static int availableProcessors() {
        return Runtime.getRuntime().availableProcessors();
    }

    private static Set<Integer> classes(Dataset dataset, int index) {
        OptionalInt label = dataset.label(index);
        if (label.isPresent()) {
            return ImmutableSet.of(label.getAsInt());
        }
        return dataset.annotations(index).stream()
                .filter(object -> TrainingTargets.isUsable(object, dataset.image(index).size()))
                .map(object -> object.label())
                .collect(Collectors.toSet());
    }

    private static Set<Integer> mapClasses(Dataset dataset, int index) {
        try {
            LabelMap labels = dataset.labels(index);
            long[] pixels = labels.histogram(dataset.classes().size());
            return IntStream.range(0, dataset.classes().size())
                    .filter(label -> pixels[label] > 0)
                    .boxed()
                    .collect(ImmutableSet.toImmutableSet());
        } catch (SaccadeException | IllegalArgumentException e) {
            // Checks of the data set report damaged label maps.
            return ImmutableSet.of();
        }
    }

    private int[] assign() {
        Multiset<Integer> remaining = HashMultiset.create();
        classesOf.forEach(remaining::addAll);
        while (!remaining.isEmpty()) {
            int rarest = rarest(remaining);
            for (int image : shuffled) {
                if (foldOf[image] < 0 && classesOf.get(image).contains(rarest)) {
                    assign(image, counts[rarest]);
                    classesOf.get(image).forEach(remaining::remove);
                }
            }
        }
        for (int image : shuffled) {
            if (foldOf[image] < 0) {
                assign(image, sizes);
            }
        }
        return foldOf;
    }

    private static int rarest(Multiset<Integer> remaining) {
        return remaining.elementSet().stream()
                .min(
                        Comparator.<Integer>comparingInt(remaining::count)
                                .thenComparing(Comparator.naturalOrder()))
                .orElseThrow();
    }

    /** Assigns an image to the fold with the lowest count. */
    private void assign(int image, int[] count) {
        int best = 0;
        for (int fold = 1; fold < folds; fold++) {
            boolean isLess = count[fold] < count[best];
            boolean isTie = count[fold] == count[best] && sizes[fold] < sizes[best];
            best = isLess || isTie ? fold : best;
        }
        foldOf[image] = best;
        sizes[best]++;
        for (int label : classesOf.get(image)) {
            counts[label][best]++;
        }
    }
}
