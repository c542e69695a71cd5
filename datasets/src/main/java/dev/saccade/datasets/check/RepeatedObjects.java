package dev.saccade.datasets.check;

import dev.saccade.core.Text;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.Finding;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Warns about objects that are labeled twice: same image, class and box. */
final class RepeatedObjects {

    private record Place(long image, long category, Annotation.Bbox box) {

        static Place of(AnnotationTable table, int row) {
            return new Place(
                    table.annotationImageIds().get(row),
                    table.annotationCategoryIds().get(row),
                    table.box(row));
        }
    }

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
            Place place = Place.of(table, row);
            Integer image = images.get(place.image);
            if (image != null
                    && wanted.contains(place.category)
                    && candidates.contains(place.hashCode())) {
                long id = table.annotationIds().get(row);
                Long other = first.putIfAbsent(place, id);
                objects += other == null ? 0 : 1;
                if (other != null && objects == 1) {
                    example =
                            Text.format(
                                    "annotation %d of image %d (%s) repeats annotation %d",
                                    id, place.image, table.fileNames().get(image), other);
                }
            }
        }
        return objects == 0
                ? Optional.empty()
                : Optional.of(
                        Finding.warning(
                                file,
                                "",
                                Text.format(
                                        "%s the image, class and box of another object; remove the"
                                                + " copies, which lower AP: %s",
                                        objects == 1
                                                ? "1 object repeats"
                                                : objects + " objects repeat",
                                        example)));
    }

    /** Returns hashes of two or more objects, so that only the places of few objects are kept. */
    private static Set<Integer> repeatedHashes(AnnotationTable table) {
        int[] hashes =
                IntStream.range(0, table.annotationIds().length())
                        .map(row -> Place.of(table, row).hashCode())
                        .sorted()
                        .toArray();
        return IntStream.range(1, hashes.length)
                .filter(i -> hashes[i] == hashes[i - 1])
                .mapToObj(i -> hashes[i])
                .collect(Collectors.toSet());
    }
}
