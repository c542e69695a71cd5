package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.labels.ClassName;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An object as a label file has it.
 *
 * @param place file and line
 * @param name of its class
 * @param group objects of one class and one group are parts of one object; empty for none
 * @param difficult whether it is too hard to be counted, as VOC flags some
 */
public record ParsedObject(
        String place, String name, String group, List<Outline> outlines, boolean difficult) {

    /** Normalizes the name. */
    public ParsedObject {
        name = ClassName.of(name);
        outlines = ImmutableList.copyOf(outlines);
    }

    /** Creates an object without a group. */
    public ParsedObject(String place, String name, Outline outline) {
        this(place, name, "", List.of(outline), false);
    }

    /** Returns the objects with all parts of an object joined at the position of the first. */
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

    /** Returns the object with other shapes. */
    public ParsedObject with(List<Outline> others) {
        return new ParsedObject(place, name, group, others, difficult);
    }

    private ParsedObject with(ParsedObject part) {
        return with(
                ImmutableList.<Outline>builder().addAll(outlines).addAll(part.outlines).build());
    }
}
