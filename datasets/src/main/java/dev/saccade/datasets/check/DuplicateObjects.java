package dev.saccade.datasets.check;

import dev.saccade.core.Text;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.AnnotationTable.LabeledObject;
import dev.saccade.datasets.Finding;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Warns about objects that are labeled twice: same image, class and box. */
final class DuplicateObjects {

    private record Place(long category, Annotation.Bbox box) {}

    private DuplicateObjects() {}

    static Optional<Finding> warning(AnnotationTable table, String file, Set<Long> selectedIds) {
        Map<Long, List<LabeledObject>> perImage =
                table.objects().stream()
                        .filter(object -> selectedIds.contains(object.row().categoryId()))
                        .collect(
                                Collectors.groupingBy(
                                        object -> object.image().id(),
                                        LinkedHashMap::new,
                                        Collectors.toList()));
        int objects = 0;
        String example = "";
        for (List<LabeledObject> image : perImage.values()) {
            Map<Place, Long> first = new HashMap<>();
            for (LabeledObject object : image) {
                Place place = new Place(object.row().categoryId(), object.row().box());
                Long other = first.putIfAbsent(place, object.row().id());
                objects += other == null ? 0 : 1;
                if (other != null && example.isEmpty()) {
                    example = object.subject() + " repeats annotation " + other;
                }
            }
        }
        if (objects == 0) {
            return Optional.empty();
        }
        String message =
                Text.format(
                        "%s the image, class and box of another object; remove the copies, which"
                                + " lower AP: %s",
                        objects == 1 ? "1 object repeats" : objects + " objects repeat", example);
        return Optional.of(Finding.warning(file, "", message));
    }
}
