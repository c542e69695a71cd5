package dev.saccade.checkpoint.weights;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.Count;
import dev.saccade.core.conversion.ClassRows.Order;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Layers of a model that have rows for every class.
 *
 * @param classes class names of the model
 * @param theirs class names of the checkpoint; empty if unknown
 * @param rows rows per class by parameter, such as 4 for class-specific box regression
 */
public record ClassLayers(List<String> classes, List<String> theirs, Map<String, Integer> rows) {

    static final ClassLayers NONE = new ClassLayers(List.of(), List.of(), Map.of());

    public ClassLayers {
        classes = List.copyOf(classes);
        theirs = List.copyOf(theirs);
        rows = ImmutableMap.copyOf(rows);
    }

    /** How a parameter uses the rows of a tensor. */
    sealed interface Plan {

        /** All rows in order; the tensor may have no class rows. */
        record AsIs() implements Plan {}

        /** All rows in order; the classes of the checkpoint are unknown. */
        record Unnamed() implements Plan {}

        /**
         * Rows in another order: the source row of each parameter row; -1 keeps the initialized
         * row.
         */
        record Moved(ImmutableIntArray sources) implements Plan {}

        /** The parameter stays as initialized. */
        record Fresh(String reason) implements Plan {}
    }

    /** Returns this object if its checkpoint classes are known, else a copy with {@code names}. */
    ClassLayers orElse(List<String> names) {
        return theirs.isEmpty() ? new ClassLayers(classes, names, rows) : this;
    }

    ClassMatch match() {
        return ClassMatch.of(classes, theirs);
    }

    /** Returns how to use a tensor for a parameter; {@code order} of rows is empty if unknown. */
    Plan plan(String name, Shape found, Shape expected, Optional<Order> order) {
        if (!rows.containsKey(name) || !tail(found).equals(tail(expected))) {
            return new Plan.AsIs();
        }
        int perClass = rows.get(name);
        boolean isByAnchor = perClass > 1 && order.equals(Optional.of(Order.BY_ANCHOR));
        Layout here = Layout.of(expected.get(0), perClass, classes.size(), isByAnchor);
        Layout there = new Layout(perClass, theirs.size(), here.background, isByAnchor);
        if (theirs.isEmpty() || there.rows() != found.get(0)) {
            return unnamed(found.get(0) - expected.get(0), perClass);
        }
        ClassMatch match = match();
        if (match.isIdentity()) {
            return new Plan.AsIs();
        }
        if (match.isNone()) {
            return new Plan.Fresh(classCount() + ", different classes in the checkpoint");
        }
        boolean isKnown = perClass == 1 || order.isPresent();
        return isKnown && here.background <= 1
                ? new Plan.Moved(here.sources(there, match))
                : new Plan.Fresh("its classes differ and its row order is unknown");
    }

    private Plan unnamed(long more, int perClass) {
        long count = classes.size() + more / perClass;
        if (more % perClass != 0 || count < 1) {
            return new Plan.AsIs();
        }
        return more == 0
                ? new Plan.Unnamed()
                : new Plan.Fresh(classCount() + ", " + count + " in the checkpoint");
    }

    private String classCount() {
        return Count.of(classes.size(), "class") + " here";
    }

    private static Shape tail(Shape shape) {
        return shape.dimension() == 0 ? shape : shape.slice(1);
    }

    /** Row layout of a class layer; background rows are last, or last of each anchor. */
    private record Layout(int perClass, int classes, int background, boolean isByAnchor) {

        static Layout of(long rows, int perClass, int classes, boolean isByAnchor) {
            long others = rows - (long) perClass * classes;
            return new Layout(
                    perClass,
                    classes,
                    Math.toIntExact(isByAnchor ? others / perClass : others),
                    isByAnchor);
        }

        long rows() {
            return isByAnchor
                    ? (long) perClass * (classes + background)
                    : (long) perClass * classes + background;
        }

        /** Returns the index of row {@code part} of a class; {@code classes} is the background. */
        int row(int label, int part) {
            return isByAnchor ? part * (classes + background) + label : label * perClass + part;
        }

        ImmutableIntArray sources(Layout there, ClassMatch match) {
            int[] sources = new int[Math.toIntExact(rows())];
            Arrays.fill(sources, -1);
            for (int part = 0; part < perClass; part++) {
                for (int label = 0; label < classes; label++) {
                    int theirs = match.place(label);
                    sources[row(label, part)] = theirs < 0 ? -1 : there.row(theirs, part);
                }
                if (background > 0 && (isByAnchor || part == 0)) {
                    sources[row(classes, part)] = there.row(there.classes, part);
                }
            }
            return ImmutableIntArray.copyOf(sources);
        }
    }
}
