package dev.saccade.checkpoint;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Count;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The layers of a model that have rows for every class, which mean nothing to other classes.
 *
 * @param classes the names of the labels here
 * @param theirs the names of the labels that the checkpoint was made for; empty if it does not say
 * @param rows how many rows a class has in each parameter that has any, such as 4 in a regression
 *     of boxes for each class
 */
public record ClassLayers(List<String> classes, List<String> theirs, Map<String, Integer> rows) {

    static final ClassLayers NONE = new ClassLayers(List.of(), List.of(), Map.of());

    /** Keeps copies. */
    public ClassLayers {
        classes = List.copyOf(classes);
        theirs = List.copyOf(theirs);
        rows = ImmutableMap.copyOf(rows);
    }

    /**
     * Returns why a tensor of the checkpoint is of no use to a parameter, if that is because of
     * their classes.
     *
     * @param name the parameter
     * @param found the shape of the tensor
     * @param expected the shape of the parameter
     */
    Optional<String> mismatch(String name, Shape found, Shape expected) {
        if (!rows.containsKey(name) || !tail(found).equals(tail(expected))) {
            return Optional.empty();
        }
        long more = found.get(0) - expected.get(0);
        long there = classes.size() + more / rows.get(name);
        if (more % rows.get(name) != 0 || there < 1) {
            return Optional.empty();
        }
        String here = Count.of(classes.size(), "class") + " here";
        if (more != 0) {
            return Optional.of(here + ", " + there + " there");
        }
        return theirs.isEmpty() || theirs.equals(classes)
                ? Optional.empty()
                : Optional.of(here + ", others there");
    }

    private static Shape tail(Shape shape) {
        return shape.dimension() == 0 ? shape : shape.slice(1);
    }
}
