package dev.saccade.train.extend;

import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.TrainingTargets;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Selects images to replay, with similar numbers of images for each class. Each next image has the
 * largest sum over its classes of {@code 1 / (1 + selected images of the class)}; of equal images,
 * the one with the most objects, and then the first.
 */
final class ReplaySelection {

    private record Candidate(int index, Set<Integer> classes, int objects) {}

    private ReplaySelection() {}

    /** Returns the indices of at most {@code count} images with objects, ascending. */
    static List<Integer> select(Dataset dataset, int count) {
        List<Candidate> candidates = new ArrayList<>();
        for (int i = 0; i < dataset.size(); i++) {
            if (dataset.repetition(i) == 0) {
                Candidate candidate = candidate(dataset, i);
                if (candidate.objects > 0) {
                    candidates.add(candidate);
                }
            }
        }
        if (candidates.size() <= count) {
            return candidates.stream().map(Candidate::index).toList();
        }
        int[] selectedOf = new int[dataset.classes().size()];
        Set<Integer> selected = new TreeSet<>();
        while (selected.size() < count) {
            Candidate best = candidates.get(0);
            for (Candidate each : candidates) {
                double gain = gain(each, selectedOf) - gain(best, selectedOf);
                if (gain > 0 || (gain == 0 && each.objects > best.objects)) {
                    best = each;
                }
            }
            candidates.remove(best);
            selected.add(best.index);
            best.classes.forEach(label -> selectedOf[label]++);
        }
        return List.copyOf(selected);
    }

    private static Candidate candidate(Dataset dataset, int index) {
        ImageFile image = dataset.image(index);
        List<Annotation> usable =
                dataset.annotations(index).stream()
                        .filter(each -> TrainingTargets.isUsable(each, image.size()))
                        .toList();
        return new Candidate(
                index,
                usable.stream().map(Annotation::label).collect(Collectors.toSet()),
                TrainingTargets.isLargeEnough(image.size()) ? usable.size() : 0);
    }

    private static double gain(Candidate candidate, int[] selectedOf) {
        return candidate.classes.stream().mapToDouble(label -> 1.0 / (1 + selectedOf[label])).sum();
    }
}
