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
 * @param parameter the names of the parameters that such a table stands beside
 * @param name its own name, with the values of the placeholders of {@code parameter}
 * @param values makes it; nothing, if there is none beside this parameter
 */
public record IndexTable(
        NamePattern parameter, NamePattern name, Function<Parameter, Optional<Values>> values) {

    /**
     * A parameter that a table may stand parameter.
     *
     * @param shape its shape
     * @param placeholders what its name has at each place
     * @param shapes the shapes of all tensors of the checkpoint by their names
     */
    public record Parameter(
            Shape shape, Map<String, String> placeholders, Map<String, Shape> shapes) {

        /** Returns the number at a place of the name, such as that of <code>{i}</code>. */
        public int number(String placeholder) {
            return Integer.parseInt(placeholders.get(placeholder));
        }

        /**
         * Returns the shape of another parameter, with the values of the placeholders of this one.
         */
        public Optional<Shape> other(String name) {
            return Optional.ofNullable(shapes.get(new NamePattern(name).write(placeholders)));
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

    /** Refuses a name with placeholders that the other does not have. */
    public IndexTable {
        checkArgument(
                parameter.placeholders().containsAll(name.placeholders()),
                "%s: expected only placeholders of %s",
                name,
                parameter);
    }

    /** A table beside each parameter of a name. */
    public IndexTable(String parameter, String name, Function<Parameter, Optional<Values>> values) {
        this(new NamePattern(parameter), new NamePattern(name), values);
    }
}
