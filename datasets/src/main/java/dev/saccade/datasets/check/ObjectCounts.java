package dev.saccade.datasets.check;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation.Flag;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.AnnotationTable.LabeledObject;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.TrainingTargets;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

public final class ObjectCounts {

    private static final int SMALLEST_BUCKET = 8;
    private static final int LARGEST_BUCKET = 512;

    private ObjectCounts() {}

    /** Returns the statistics of a table for the selected class names; all if empty. */
    public static ObjectStatistics count(AnnotationTable table, List<String> selectedNames) {
        Set<Long> categories = table.categories(selectedNames);
        int usable = 0;
        int trained = 0;
        Set<Long> withBoxes = new HashSet<>();
        Multiset<Long> perImage = HashMultiset.create();
        Multiset<List<Long>> perClass = HashMultiset.create();
        for (LabeledObject object : table.objects()) {
            long image = object.image().id();
            long category = object.row().categoryId();
            int label = categories.contains(category) ? 0 : -1;
            Size size = object.image().size();
            withBoxes.add(image);
            if (TrainingTargets.isUsable(object.row().withoutOutline(label), size)) {
                usable++;
                perImage.add(image);
                perClass.add(List.of(image, category));
                trained += TrainingTargets.isLargeEnough(size) ? 1 : 0;
            }
        }
        int images = table.images().size();
        int boxes = table.annotations().size();
        long crowds =
                table.annotations().stream()
                        .filter(row -> row.flags().contains(Flag.CROWD))
                        .count();
        return new ObjectStatistics(
                images,
                images - withBoxes.size(),
                new ObjectStatistics.Counts(boxes, (int) crowds, usable, trained),
                new ObjectStatistics.Density(largest(perImage), largest(perClass)),
                perClass(table, selectedNames),
                perSize(table));
    }

    private static int largest(Multiset<?> counts) {
        return counts.entrySet().stream().mapToInt(Multiset.Entry::getCount).max().orElse(0);
    }

    private static Map<String, Integer> perClass(
            AnnotationTable table, List<String> selectedNames) {
        Map<Long, String> names = new HashMap<>();
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (AnnotationTable.Category category : table.categories()) {
            names.putIfAbsent(category.id(), category.name());
            if (selectedNames.isEmpty() || selectedNames.contains(category.name())) {
                counts.put(category.name(), 0);
            }
        }
        table.annotations()
                .forEach(
                        row ->
                                counts.computeIfPresent(
                                        names.get(row.categoryId()), (name, count) -> count + 1));
        return counts;
    }

    private static Map<String, Integer> perSize(AnnotationTable table) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (int edge = SMALLEST_BUCKET; edge <= 2 * LARGEST_BUCKET; edge *= 2) {
            counts.put(bucket(edge - 1), 0);
        }
        table.annotations()
                .forEach(row -> counts.merge(bucket(Math.sqrt(row.box().area())), 1, Integer::sum));
        return counts;
    }

    private static String bucket(double edge) {
        for (int limit = SMALLEST_BUCKET; limit <= LARGEST_BUCKET; limit *= 2) {
            if (!(edge >= limit)) {
                return "below " + limit + " px";
            }
        }
        return LARGEST_BUCKET + " px and more";
    }
}
