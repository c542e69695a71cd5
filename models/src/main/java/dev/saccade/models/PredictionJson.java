package dev.saccade.models;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Converts predictions to JSON for files, video output and server responses. */
public final class PredictionJson {

    private PredictionJson() {}

    /**
     * Returns a JSON object with {@code width}, {@code height} and {@code objects}; {@code
     * segmentation} converts a mask, or returns empty to omit it.
     */
    public static Map<String, Object> of(
            Size image,
            List<DetectedObject> objects,
            Function<Rle, Optional<Object>> segmentation) {
        return ImmutableMap.of(
                "width",
                image.width(),
                "height",
                image.height(),
                "objects",
                objects.stream().map(object -> object(object, segmentation)).toList());
    }

    /** Returns a JSON object for one detection; callers may add keys. */
    public static Map<String, Object> object(
            DetectedObject object, Function<Rle, Optional<Object>> segmentation) {
        Box box = object.box();
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("classIndex", object.classIndex());
        entry.put("label", object.label());
        entry.put("score", (float) object.score());
        entry.put("x", (float) box.x1());
        entry.put("y", (float) box.y1());
        entry.put("width", (float) box.width());
        entry.put("height", (float) box.height());
        object.mask().flatMap(segmentation).ifPresent(json -> entry.put("segmentation", json));
        return entry;
    }

    /** Returns {@code width}, {@code height} and {@code regions}: one per class, largest first. */
    public static Map<String, Object> of(
            ClassMap map, Function<Rle, Optional<Object>> segmentation) {
        Map<Integer, Rle> masks = map.labels().masks();
        return ImmutableMap.of(
                "width",
                map.width(),
                "height",
                map.height(),
                "regions",
                map.fractions().keySet().stream()
                        .map(label -> map.classes().indexOf(label))
                        .map(index -> region(map, index, masks.get(index), segmentation))
                        .toList());
    }

    private static Map<String, Object> region(
            ClassMap map, int index, Rle mask, Function<Rle, Optional<Object>> segmentation) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("classIndex", index);
        entry.put("label", map.classes().get(index));
        entry.put("pixels", mask.area());
        entry.put("fraction", mask.area() / (double) map.labels().size().area());
        segmentation.apply(mask).ifPresent(json -> entry.put("segmentation", json));
        return entry;
    }

    /** Returns {@code width}, {@code height} and {@code classes}, highest score first. */
    public static Map<String, Object> of(Size image, List<ClassScore> classes) {
        return ImmutableMap.of(
                "width",
                image.width(),
                "height",
                image.height(),
                "classes",
                classes.stream().map(PredictionJson::classScore).toList());
    }

    private static Map<String, Object> classScore(ClassScore score) {
        return ImmutableMap.of(
                "classIndex",
                score.classIndex(),
                "label",
                score.label(),
                "score",
                (float) score.score());
    }

    /** Returns COCO's compressed RLE of a mask: {@code size} and {@code counts}. */
    public static Optional<Object> rle(Rle mask) {
        Size size = mask.size();
        return Optional.of(
                ImmutableMap.of(
                        "size",
                        List.of(size.height(), size.width()),
                        "counts",
                        mask.toCompressedString()));
    }
}
