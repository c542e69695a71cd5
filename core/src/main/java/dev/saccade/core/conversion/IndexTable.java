package dev.saccade.core.conversion;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.types.Shape;

import com.google.common.primitives.ImmutableLongArray;

import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Index table, such as {@code relative_position_index}, that a Python class stores with its weights
 * and requires for strict loading. Saccade computes the table when needed.
 *
 * @param parameter names of the parameters with an index table
 * @param name name of the table, with placeholders of {@code parameter}
 * @param values computes the table; empty if this parameter has none
 */
public record IndexTable(
        NamePattern parameter, NamePattern name, Function<Parameter, Optional<Values>> values) {

    /** A parameter that may have a table, with the shapes of all tensors of the checkpoint. */
    public record Parameter(
            Shape shape, Map<String, String> placeholders, Map<String, Shape> shapes) {

        /** Returns the value of a numeric placeholder, such as {@code i}. */
        public int number(String placeholder) {
            return Integer.parseInt(placeholders.get(placeholder));
        }

        /** Returns the shape of another parameter with the same placeholder values. */
        public Optional<Shape> other(String name) {
            return Optional.ofNullable(shapes.get(new NamePattern(name).write(placeholders)));
        }
    }

    /** Content of a table, row-major; stored as int64. */
    public record Values(Shape shape, ImmutableLongArray elements) {

        public Values(ImmutableLongArray elements) {
            this(new Shape(elements.length()), elements);
        }
    }

    public IndexTable {
        checkArgument(
                parameter.placeholders().containsAll(name.placeholders()),
                "%s: expected only placeholders of %s",
                name,
                parameter);
    }

    public IndexTable(String parameter, String name, Function<Parameter, Optional<Values>> values) {
        this(new NamePattern(parameter), new NamePattern(name), values);
    }
}
