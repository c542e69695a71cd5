package dev.saccade.export.onnx;

import static dev.saccade.export.onnx.OnnxGraph.attribute;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.TensorProto.DataType;

import dev.saccade.core.SaccadeException;
import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.SizeExpression;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/** A libtorch operator that is converted to ONNX operators. */
record Operator(OnnxWriter writer, OnnxGraph graph, Node node) {

    /** Converts an operator and returns the name of its result. */
    interface Converter {
        String convert(Operator operator);
    }

    /** Converts an operator and returns the names of its results, or of the elements of a list. */
    interface ListConverter {
        List<String> convert(Operator operator);
    }

    String add(String type, String... inputs) {
        return graph.add(type, inputs);
    }

    String add(String type, List<String> inputs, AttributeProto... attributes) {
        return graph.add(type, inputs, attributes);
    }

    /** Returns a constant {@code [N]} int64. */
    String ints(long... values) {
        return graph.integers(values);
    }

    /** Returns a constant {@code []} of a type. */
    String scalarOf(Number value, DataType of) {
        return graph.scalar(value, of);
    }

    /** Returns a constant {@code []} in the type of the result. */
    String constant(Number value) {
        return graph.scalar(value, type());
    }

    /** Returns a constant {@code []} int64. */
    String index(long value) {
        return graph.scalar(value, DataType.INT64);
    }

    String unsqueeze(String tensor, long axis) {
        return add("Unsqueeze", tensor, ints(axis));
    }

    String reshape(String tensor, long... shape) {
        return add("Reshape", tensor, ints(shape));
    }

    String gather(String tensor, String indices, long axis) {
        return add("Gather", List.of(tensor, indices), attribute("axis", axis));
    }

    String transpose(String tensor, List<Long> order) {
        return graph.transpose(tensor, order);
    }

    String swapAxes(String tensor, int axes, int a, int b) {
        List<Long> order = new ArrayList<>(LongStream.range(0, axes).boxed().toList());
        Collections.swap(order, a, b);
        return transpose(tensor, order);
    }

    /** Returns the integers from 0 to {@code end}, exclusive; {@code end} is {@code []} int64. */
    String range(String end) {
        return add("Range", index(0), end, index(1));
    }

    String tensor(int place) {
        return writer.name(node.value(place));
    }

    /** Returns the tensor at a position, if the argument is a tensor. */
    Optional<String> optional(int place) {
        return node.arguments().get(place) instanceof Argument.TensorRef
                ? Optional.of(tensor(place))
                : Optional.empty();
    }

    String tensor(int place, DataType type) {
        return cast(tensor(place), OnnxTypes.of(node.value(place)), type);
    }

    String cast(String value, DataType from, DataType to) {
        return from == to ? value : add("Cast", List.of(value), attribute("to", to.getNumber()));
    }

    DataType type() {
        return OnnxTypes.of(node.result());
    }

    int axes(int place) {
        return node.value(place).sizes().size();
    }

    /** Returns an axis argument as a non-negative axis of the first tensor. */
    int axis(int place) {
        return axis(place, axes(0));
    }

    /** Returns an axis argument as a non-negative axis below {@code axes}. */
    int axis(int place, int axes) {
        return (int) Math.floorMod(integer(place), (long) axes);
    }

    long integer(int place) {
        return (Long) literal(place);
    }

    private Object literal(int place) {
        return literal(node.arguments().get(place));
    }

    private Object literal(Argument argument) {
        if (argument instanceof Argument.Literal literal) {
            return literal.value();
        }
        throw SaccadeException.user(
                        "%s: a value that depends on the image size cannot be exported to ONNX;"
                                + " export with a fixed size",
                        node.operator())
                .withSettings("size");
    }

    double real(int place) {
        return ((Number) literal(place)).doubleValue();
    }

    boolean flag(int place) {
        return (Boolean) literal(place);
    }

    boolean isNone(int place) {
        return node.arguments().get(place) instanceof Argument.Literal literal
                && literal.value() == null;
    }

    /** Returns the integers of a list argument; fails if one depends on the image size. */
    List<Long> integers(int place) {
        return items(place).stream().map(item -> (Long) literal(item)).toList();
    }

    List<Argument> items(int place) {
        return ((Argument.Items) node.arguments().get(place)).items();
    }

    String[] tensors() {
        return node.arguments().stream()
                .filter(Argument.TensorRef.class::isInstance)
                .flatMap(Argument::values)
                .map(writer::name)
                .toArray(String[]::new);
    }

    List<String> tensors(int place) {
        Argument list = node.arguments().get(place);
        return list instanceof Argument.TensorRef of
                ? writer.list(of.value())
                : list.values().map(writer::name).toList();
    }

    /** Returns the length of the resulting list. */
    int parts() {
        return writer.parts(node.result());
    }

    /** Returns an integer, {@code [1]} int64. */
    String number(Argument argument) {
        return argument instanceof Argument.Size size
                ? number(size.expression())
                : graph.integers((Long) literal(argument));
    }

    /** Returns the integer at a position, {@code [1]} int64. */
    String number(int place) {
        return number(node.arguments().get(place));
    }

    private String number(SizeExpression expression) {
        String number = null;
        for (SizeExpression.SizeOf size : expression.sizes()) {
            String one = size(writer.name(size.value()), size.axis(), size.axis() + 1);
            number = number == null ? one : add("Mul", number, one);
        }
        if (expression.factor() != 1) {
            number = add("Mul", number, ints(expression.factor()));
        }
        if (expression.summand() != 0) {
            number = add("Add", number, ints(expression.summand()));
        }
        return expression.divisor() == 1
                ? number
                : add(expression.isRemainder() ? "Mod" : "Div", number, ints(expression.divisor()));
    }

    /** Returns sizes of axes {@code from} to {@code to}, exclusive, {@code [to - from]} int64. */
    String size(String tensor, int from, int to) {
        return add("Shape", List.of(tensor), attribute("start", from), attribute("end", to));
    }

    /** Returns a list of integers, {@code [N]} int64. */
    String numbers(List<Argument> items) {
        if (items.stream().allMatch(item -> item instanceof Argument.Literal)) {
            return graph.integers(items.stream().mapToLong(item -> (Long) literal(item)).toArray());
        }
        List<String> parts = new ArrayList<>();
        items.forEach(item -> parts.add(number(item)));
        return concat(parts, 0);
    }

    String concat(List<String> parts, int axis) {
        return parts.size() == 1 ? parts.get(0) : add("Concat", parts, attribute("axis", axis));
    }

    /** Returns the number at a position as {@code []} in the type of the result. */
    String scalar(int place) {
        return scalar(place, type());
    }

    String scalar(int place, DataType type) {
        Argument argument = node.arguments().get(place);
        if (argument instanceof Argument.Size) {
            return cast(squeezed(number(argument)), DataType.INT64, type);
        }
        Object value = literal(argument);
        Number number = value instanceof Boolean flag ? (Number) (flag ? 1 : 0) : (Number) value;
        return graph.scalar(number, type);
    }

    /** Converts {@code [1]} to {@code []}. */
    String squeezed(String number) {
        return add("Squeeze", number, graph.integers(0));
    }

    /** Slices a tensor along an axis; bounds are {@code [1]} int64. */
    String slice(String tensor, int axis, String from, String to, long step) {
        return add("Slice", tensor, from, to, graph.integers(axis), graph.integers(step));
    }
}
