package dev.saccade.datasets.check;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.collect.ImmutableSet;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Structure of a JSON file, used to recognize annotation formats.
 *
 * @param list whether the file is a list, not an object
 * @param keys keys of the object, or of the first object in the list
 * @param inner keys of the first object nested in the object, if any
 */
public record JsonShape(boolean list, Set<String> keys, Set<String> inner) {

    private static final int MAX_SHOWN = 6;

    private static final String CONVERT = "convert it to COCO's format (\"COCO instances\")";
    private static final String LABELS = "expected ground truth, not predictions";

    /** A format, its distinctive keys (of inner objects if {@code inner}), and advice. */
    private record Known(
            String name, boolean list, boolean inner, Set<String> keys, String advice) {

        Known(String name, boolean list, boolean inner, String... keys) {
            this(name, list, inner, ImmutableSet.copyOf(keys), CONVERT);
        }

        boolean is(JsonShape shape) {
            return list == shape.list && (inner ? shape.inner : shape.keys).containsAll(keys);
        }
    }

    private static final List<Known> FORMATS =
            List.of(
                    new Known("COCO results", true, false, Set.of("image_id", "score"), LABELS),
                    new Known(
                            "the annotations of a COCO file only",
                            true,
                            false,
                            Set.of("image_id", "category_id"),
                            "expected images and categories, too"),
                    new Known("Create ML", true, false, "image", "annotations"),
                    new Known("Create ML", true, false, "imagefilename", "annotation"),
                    new Known("Label Studio", true, false, "data", "annotations"),
                    new Known("Label Studio", true, false, "data", "completions"),
                    new Known("Label Studio", true, false, "image", "label"),
                    new Known("Scalabel", true, false, "name", "labels"),
                    new Known("LabelMe", false, false, "shapes"),
                    new Known("a VIA project", false, false, "_via_img_metadata"),
                    new Known("VIA", false, true, "filename", "regions"),
                    new Known("Cityscapes", false, false, "imgHeight", "objects"),
                    new Known("VoTT", false, false, "assets"),
                    new Known("VoTT", false, false, "asset", "regions"),
                    new Known("Datumaro", false, false, "items"),
                    new Known("Supervisely", false, false, "objects", "size"),
                    new Known("GeoJSON", false, false, "features"));

    public JsonShape {
        keys = ImmutableSet.copyOf(keys);
        inner = ImmutableSet.copyOf(inner);
    }

    /** Returns the structure of the list at the parser's position; reads only its first element. */
    public static JsonShape ofList(JsonParser parser) throws IOException {
        boolean holdsObjects = parser.nextToken() == JsonToken.START_OBJECT;
        return new JsonShape(true, holdsObjects ? keysOf(parser) : Set.of(), Set.of());
    }

    /** Reads the keys of an object from its start to its end. */
    public static Set<String> keysOf(JsonParser parser) throws IOException {
        Set<String> keys = new LinkedHashSet<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            keys.add(parser.currentName());
            parser.nextToken();
            parser.skipChildren();
        }
        return keys;
    }

    private Optional<Known> known() {
        return FORMATS.stream().filter(format -> format.is(this)).findFirst();
    }

    public Optional<String> format() {
        return known().map(Known::name);
    }

    /** Describes the structure and the recognized format, with advice. */
    public String describe() {
        String what = list ? "a list" : "an object";
        if (!keys.isEmpty()) {
            what +=
                    (list ? " of objects with " : " with ")
                            + String.join(", ", keys.stream().limit(MAX_SHOWN).toList())
                            + (keys.size() > MAX_SHOWN ? ", ..." : "");
        }
        return what
                + known().map(format -> ", apparently " + format.name + "; " + format.advice)
                        .orElse("");
    }
}
