package dev.saccade.core.conversion;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.types.Shape;

import com.google.common.primitives.ImmutableLongArray;

import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * A table of indices that a Python class stores beside its weights, and misses when it loads
 * strictly; here it is computed where it is needed.
 *
 * @param beside the names of the parameters that such a table stands beside
 * @param name its own name, with the values of the places of {@code beside}
 * @param values makes it; nothing, if there is none beside this parameter
 */
public record IndexTable(
        NamePattern beside, NamePattern name, Function<Parameter, Optional<Values>> values) {

    /**
     * A parameter that a table may stand beside.
     *
     * @param shape its shape
     * @param places what its name has at each place
     * @param shapes the shapes of all tensors of the checkpoint by their names
     */
    public record Parameter(Shape shape, Map<String, String> places, Map<String, Shape> shapes) {

        /** Returns the number at a place of the name, such as that of <code>{i}</code>. */
        public int number(String place) {
            return Integer.parseInt(places.get(place));
        }

        /** Returns the shape of another parameter, with the values of the places of this one. */
        public Optional<Shape> other(String name) {
            return Optional.ofNullable(shapes.get(new NamePattern(name).write(places)));
        }
    }

    /**
     * The content of a table.
     *
     * @param shape its shape
     * @param elements its elements, row by row; stored as int64
     */
    public record Values(Shape shape, ImmutableLongArray elements) {

        /** A table of one axis. */
        public Values(ImmutableLongArray elements) {
            this(new Shape(elements.length()), elements);
        }
    }

    /** Refuses a name with places that the other does not have. */
    public IndexTable {
        checkArgument(
                beside.places().containsAll(name.places()),
                "%s: expected no other places than those of %s",
                name,
                beside);
    }

    /** A table beside each parameter of a name. */
    public IndexTable(String beside, String name, Function<Parameter, Optional<Values>> values) {
        this(new NamePattern(beside), new NamePattern(name), values);
    }
}
