package dev.saccade.datasets.check;

import dev.saccade.core.Text;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.Finding;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/** Warns about objects that are labeled twice: same image, class and box. */
final class RepeatedObjects {

    private record Place(long image, long category, Annotation.Bbox box) {}

    private RepeatedObjects() {}

    /**
     * Returns the warning about a data set, if any object is repeated.
     *
     * @param wanted the categories that are trained
     */
    static Optional<Finding> warning(AnnotationTable table, String file, Set<Long> wanted) {
        Set<Integer> candidates = repeatedHashes(table);
        Map<Long, Integer> images = table.imagesById();
        Map<Place, Long> first = new HashMap<>();
        int objects = 0;
        String example = "";
        for (int row = 0; row < table.annotationIds().length() && !candidates.isEmpty(); row++) {
            Place place = place(table, row);
            Integer image = images.get(place.image);
            if (image == null
                    || !wanted.contains(place.category)
                    || !candidates.contains(hash(place))) {
                continue;
            }
            Long other = first.putIfAbsent(place, table.annotationIds().get(row));
            if (other != null) {
                objects++;
                if (example.isEmpty()) {
                    example =
                            Text.format(
                                    "annotation %d of image %d (%s) repeats annotation %d",
                                    table.annotationIds().get(row),
                                    place.image,
                                    table.fileNames().get(image),
                                    other);
                }
            }
        }
        String counted = objects == 1 ? "1 object repeats" : objects + " objects repeat";
        return objects == 0
                ? Optional.empty()
                : Optional.of(
                        Finding.warning(
                                file,
                                "",
                                Text.format(
                                        "%s the image, class and box of another object; remove the"
                                                + " copies, which lower AP: %s",
                                        counted, example)));
    }

    /** Returns hashes of two or more objects, so that places of few objects are kept in memory. */
    private static Set<Integer> repeatedHashes(AnnotationTable table) {
        int[] hashes =
                IntStream.range(0, table.annotationIds().length())
                        .map(row -> hash(place(table, row)))
                        .toArray();
        Arrays.sort(hashes);
        Set<Integer> repeated = new HashSet<>();
        for (int i = 1; i < hashes.length; i++) {
            if (hashes[i] == hashes[i - 1]) {
                repeated.add(hashes[i]);
            }
        }
        return repeated;
    }

    private static int hash(Place place) {
        return Objects.hashCode(place);
    }

    private static Place place(AnnotationTable table, int row) {
        return new Place(
                table.annotationImageIds().get(row),
                table.annotationCategoryIds().get(row),
                table.box(row));
    }
}
