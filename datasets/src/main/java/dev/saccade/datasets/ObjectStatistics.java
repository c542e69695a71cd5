package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * What a data set of labelled objects holds.
 *
 * @param photographs number of images
 * @param withoutBoxes how many of them show nothing; they are no fault, but are not trained on
 * @param boxes number of annotations
 * @param crowds how many of them mark groups
 * @param boxesPerClass by class, in the order of the labels
 * @param boxesPerSize by the square root of width times height, from small to large
 */
public record ObjectStatistics(
        int photographs,
        int withoutBoxes,
        int boxes,
        int crowds,
        Map<String, Integer> boxesPerClass,
        Map<String, Integer> boxesPerSize)
        implements DatasetStatistics {

    private static final int SMALLEST_BUCKET = 8;
    private static final int LARGEST_BUCKET = 512;

    /** Keeps copies. */
    public ObjectStatistics {
        boxesPerClass = ImmutableMap.copyOf(boxesPerClass);
        boxesPerSize = ImmutableMap.copyOf(boxesPerSize);
    }

    @Override
    public List<String> classNames() {
        return ImmutableList.copyOf(boxesPerClass.keySet());
    }

    static ObjectStatistics of(CocoColumns columns) {
        int boxes = columns.annotationIds().length();
        long photographsWithBoxes =
                columns.annotationImageIds().stream()
                        .distinct()
                        .filter(columns.imagesById()::containsKey)
                        .count();
        long crowds =
                columns.flags().stream().filter(flags -> (flags & CocoColumns.CROWD) != 0).count();
        int photographs = columns.imageIds().length();
        return new ObjectStatistics(
                photographs,
                (int) (photographs - photographsWithBoxes),
                boxes,
                (int) crowds,
                perClass(columns),
                perSize(columns));
    }

    private static Map<String, Integer> perClass(CocoColumns columns) {
        Map<Long, String> names = new LinkedHashMap<>();
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (int i = 0; i < columns.categoryNames().size(); i++) {
            names.putIfAbsent(columns.categoryIds().get(i), columns.categoryNames().get(i));
            counts.put(columns.categoryNames().get(i), 0);
        }
        columns.annotationCategoryIds().stream()
                .mapToObj(names::get)
                .filter(counts::containsKey)
                .forEach(name -> counts.merge(name, 1, Integer::sum));
        return counts;
    }

    private static Map<String, Integer> perSize(CocoColumns columns) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (int edge = SMALLEST_BUCKET - 1; edge < 2 * LARGEST_BUCKET; edge = 2 * edge + 1) {
            counts.put(bucket(edge), 0);
        }
        IntStream.range(0, columns.annotationIds().length())
                .mapToDouble(
                        row -> columns.boxes().get(4 * row + 2) * columns.boxes().get(4 * row + 3))
                .forEach(area -> counts.merge(bucket(Math.sqrt(area)), 1, Integer::sum));
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
