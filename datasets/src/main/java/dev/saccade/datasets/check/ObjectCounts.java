package dev.saccade.datasets.check;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;

import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.TrainingTargets;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Counts labeled objects. */
public final class ObjectCounts {

    private static final int SMALLEST_BUCKET = 8;
    private static final int LARGEST_BUCKET = 512;

    private ObjectCounts() {}

    /**
     * Returns the statistics of a table.
     *
     * @param wanted the names of the classes that count; all if empty
     */
    public static ObjectStatistics count(AnnotationTable table, List<String> wanted) {
        int boxes = table.annotationIds().length();
        Map<Long, Integer> images = table.imagesById();
        Set<Long> categories = table.categories(wanted);
        long imagesWithBoxes =
                table.annotationImageIds().stream().distinct().filter(images::containsKey).count();
        int crowds = 0;
        int usable = 0;
        int trained = 0;
        Multiset<Integer> perImage = HashMultiset.create();
        Multiset<List<Long>> perClass = HashMultiset.create();
        for (int row = 0; row < boxes; row++) {
            Integer image = images.get(table.annotationImageIds().get(row));
            long category = table.annotationCategoryIds().get(row);
            Annotation object = table.withoutOutline(row, categories.contains(category) ? 0 : -1);
            crowds += object.crowd() ? 1 : 0;
            if (image != null && TrainingTargets.isUsable(object, table.imageSize(image))) {
                usable++;
                perImage.add(image);
                perClass.add(List.of((long) image, category));
                trained += TrainingTargets.isLargeEnough(table.imageSize(image)) ? 1 : 0;
            }
        }
        int all = table.imageIds().length();
        return new ObjectStatistics(
                all,
                (int) (all - imagesWithBoxes),
                new ObjectStatistics.Counts(boxes, crowds, usable, trained),
                new ObjectStatistics.Density(largest(perImage), largest(perClass)),
                perClass(table, wanted),
                perSize(table));
    }

    private static int largest(Multiset<?> counts) {
        return counts.entrySet().stream().mapToInt(Multiset.Entry::getCount).max().orElse(0);
    }

    private static Map<String, Integer> perClass(AnnotationTable table, List<String> wanted) {
        Map<Long, String> names = new HashMap<>();
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (int i = 0; i < table.categoryNames().size(); i++) {
            String name = table.categoryNames().get(i);
            names.putIfAbsent(table.categoryIds().get(i), name);
            if (wanted.isEmpty() || wanted.contains(name)) {
                counts.put(name, 0);
            }
        }
        table.annotationCategoryIds()
                .forEach(id -> counts.computeIfPresent(names.get(id), (name, count) -> count + 1));
        return counts;
    }

    private static Map<String, Integer> perSize(AnnotationTable table) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (int edge = SMALLEST_BUCKET; edge <= 2 * LARGEST_BUCKET; edge *= 2) {
            counts.put(bucket(edge - 1), 0);
        }
        for (int row = 0; row < table.annotationIds().length(); row++) {
            counts.merge(bucket(Math.sqrt(table.box(row).area())), 1, Integer::sum);
        }
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
