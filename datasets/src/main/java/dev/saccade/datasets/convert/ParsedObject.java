package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.ClassName;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An object of a label file.
 *
 * @param group objects of the same class and group are parts of one object; empty for none
 * @param difficult whether training and evaluation ignore the object, like VOC's {@code difficult}
 */
public record ParsedObject(
        String place, String name, String group, List<Outline> outlines, boolean difficult) {

    public ParsedObject {
        name = ClassName.of(name);
        outlines = ImmutableList.copyOf(outlines);
    }

    public ParsedObject(String place, String name, Outline outline) {
        this(place, name, "", List.of(outline), false);
    }

    /** Creates the class of an image, as an object that covers it. */
    public static ParsedObject ofImage(String place, String name) {
        return new ParsedObject(place, name, new Outline.Fractions(new Outline.Box(0, 0, 1, 1)));
    }

    /** Returns the objects merged from parts, each at the position of its first part. */
    public static List<ParsedObject> joined(List<ParsedObject> parts) {
        Map<List<String>, ParsedObject> objects = new LinkedHashMap<>();
        for (ParsedObject part : parts) {
            List<String> key =
                    part.group.isEmpty()
                            ? List.of(Integer.toString(objects.size()))
                            : List.of(part.name, part.group);
            objects.merge(key, part, ParsedObject::with);
        }
        return List.copyOf(objects.values());
    }

    public ParsedObject with(List<Outline> others) {
        return new ParsedObject(place, name, group, others, difficult);
    }

    private ParsedObject with(ParsedObject part) {
        return with(
                ImmutableList.<Outline>builder().addAll(outlines).addAll(part.outlines).build());
    }
}
