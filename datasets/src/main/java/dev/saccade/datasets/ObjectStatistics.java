package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * What a data set of labelled objects holds.
 *
 * @param photographs number of images
 * @param withoutBoxes how many of them show nothing; they are no fault, but are not trained on
 * @param objects number of annotations
 * @param boxesPerClass by class, in the order of the labels
 * @param boxesPerSize by the square root of width times height, from small to large
 */
public record ObjectStatistics(
        int photographs,
        int withoutBoxes,
        Counts objects,
        Map<String, Integer> boxesPerClass,
        Map<String, Integer> boxesPerSize)
        implements DatasetStatistics {

    private static final int SMALLEST_BUCKET = 8;
    private static final int LARGEST_BUCKET = 512;

    /**
     * How many objects there are, and of what kind.
     *
     * @param boxes number of annotations
     * @param crowds how many of them mark groups
     * @param usable how many of them can be learned and found: of a wanted class, at least a pixel
     *     wide and high, inside of their images, and neither a crowd nor ignored
     * @param learned how many of those are on photographs that are trained on, which have no side
     *     below 32 pixels
     */
    public record Counts(int boxes, int crowds, int usable, int learned) {}

    /** Keeps copies. */
    public ObjectStatistics {
        boxesPerClass = ImmutableMap.copyOf(boxesPerClass);
        boxesPerSize = ImmutableMap.copyOf(boxesPerSize);
    }

    @Override
    public List<String> classNames() {
        return ImmutableList.copyOf(boxesPerClass.keySet());
    }

    /** Returns why nothing in a data set can be learned or found, if it has no usable object. */
    public static String whyNothing(int photographs, List<String> classNames) {
        if (photographs > 0 && !classNames.isEmpty()) {
            return "none of %d photographs shows a %s"
                    .formatted(photographs, String.join(", a ", classNames));
        }
        String lacking =
                photographs > 0
                        ? "no categories"
                        : classNames.isEmpty() ? "no images and no categories" : "no images";
        return "the data set has " + lacking;
    }

    /**
     * Returns what a file holds.
     *
     * @param wanted the names of the classes that count; all if empty
     */
    static ObjectStatistics of(AnnotationTable table, List<String> wanted) {
        int boxes = table.annotationIds().length();
        Map<Long, Integer> images = table.imagesById();
        Set<Long> categories = table.categories(wanted);
        long photographsWithBoxes =
                table.annotationImageIds().stream().distinct().filter(images::containsKey).count();
        int crowds = 0;
        int usable = 0;
        int learned = 0;
        for (int row = 0; row < boxes; row++) {
            Integer image = images.get(table.annotationImageIds().get(row));
            boolean isWanted = categories.contains(table.annotationCategoryIds().get(row));
            Annotation object = table.withoutOutline(row, isWanted ? 0 : -1);
            crowds += object.crowd() ? 1 : 0;
            if (image != null && TrainingTargets.isUsable(object, table.imageSize(image))) {
                usable++;
                learned += TrainingTargets.isLargeEnough(table.imageSize(image)) ? 1 : 0;
            }
        }
        int photographs = table.imageIds().length();
        return new ObjectStatistics(
                photographs,
                (int) (photographs - photographsWithBoxes),
                new Counts(boxes, crowds, usable, learned),
                perClass(table, wanted),
                perSize(table));
    }

    private static Map<String, Integer> perClass(AnnotationTable table, List<String> wanted) {
        Map<Long, String> names = new LinkedHashMap<>();
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (int i = 0; i < table.categoryNames().size(); i++) {
            String name = table.categoryNames().get(i);
            names.putIfAbsent(table.categoryIds().get(i), name);
            if (wanted.isEmpty() || wanted.contains(name)) {
                counts.put(name, 0);
            }
        }
        table.annotationCategoryIds().stream()
                .mapToObj(names::get)
                .filter(counts::containsKey)
                .forEach(name -> counts.merge(name, 1, Integer::sum));
        return counts;
    }

    private static Map<String, Integer> perSize(AnnotationTable table) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (int edge = SMALLEST_BUCKET - 1; edge < 2 * LARGEST_BUCKET; edge = 2 * edge + 1) {
            counts.put(bucket(edge), 0);
        }
        IntStream.range(0, table.annotationIds().length())
                .mapToDouble(row -> Math.sqrt(table.box(row).area()))
                .forEach(edge -> counts.merge(bucket(edge), 1, Integer::sum));
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
