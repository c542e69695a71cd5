package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.labels.ClassName;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An object as a file of labels has it.
 *
 * @param place file and line
 * @param name of its class
 * @param group objects of one class and one group are parts of one; empty for none
 * @param outlines its shapes
 * @param difficult whether it is too hard to be counted, as VOC marks some
 */
record DrawnObject(
        String place, String name, String group, List<Outline> outlines, boolean difficult) {

    DrawnObject {
        name = ClassName.of(name);
        outlines = ImmutableList.copyOf(outlines);
    }

    DrawnObject(String place, String name, Outline outline) {
        this(place, name, "", List.of(outline), false);
    }

    /** Returns objects with those that are parts of one joined where the first of them stood. */
    static List<DrawnObject> joined(List<DrawnObject> parts) {
        Map<List<String>, DrawnObject> objects = new LinkedHashMap<>();
        for (DrawnObject part : parts) {
            List<String> key =
                    part.group.isEmpty()
                            ? List.of(Integer.toString(objects.size()))
                            : List.of(part.name, part.group);
            objects.merge(key, part, DrawnObject::with);
        }
        return List.copyOf(objects.values());
    }

    /** Returns the object with other shapes. */
    DrawnObject with(List<Outline> others) {
        return new DrawnObject(place, name, group, others, difficult);
    }

    private DrawnObject with(DrawnObject part) {
        List<Outline> all = new ArrayList<>(outlines);
        all.addAll(part.outlines);
        return new DrawnObject(place, name, group, all, difficult || part.difficult);
    }
}
