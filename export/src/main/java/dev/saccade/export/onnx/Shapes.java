package dev.saccade.export.onnx;

import static dev.saccade.export.onnx.OnnxGraph.attribute;

import ai.onnx.proto.OnnxMl.TensorProto.DataType;

import com.google.common.collect.ImmutableMap;

import dev.saccade.export.Graph.Argument;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Operators that move, choose, sum or make elements. */
final class Shapes {

    /** How a list of tensors is written of which so many are taken. */
    interface ListConverter {
        List<String> convert(Operator operator, int parts);
    }

    static final ImmutableMap<String, Operator.Converter> CONVERTERS =
            ImmutableMap.<String, Operator.Converter>builder()
                    .put("aten::reshape", Shapes::reshaped)
                    .put("aten::view", Shapes::reshaped)
                    .put("aten::flatten", Shapes::flattened)
                    .put("aten::permute", op -> permuted(op, op.integers(1)))
                    .put("aten::transpose", Shapes::transposed)
                    .put("aten::t", op -> permuted(op, List.of(1L, 0L)))
                    .put("aten::unsqueeze", Shapes::unsqueezed)
                    .put("aten::squeeze", Shapes::squeezed)
                    .put("aten::expand", Shapes::expanded)
                    .put("aten::slice", Shapes::sliced)
                    .put("aten::select", Shapes::selected)
                    .put("aten::index_select", op -> chosen(op, op.tensor(2), axis(op)))
                    .put("aten::gather", Shapes::gathered)
                    .put("aten::embedding", Shapes::embedded)
                    .put("aten::cat", op -> op.concat(op.tensors(0), listAxis(op)))
                    .put("aten::stack", Shapes::stacked)
                    .put("aten::pad", Shapes::padded)
                    .put("aten::constant_pad_nd", Shapes::padded)
                    .put("aten::roll", Shapes::rolled)
                    .put("aten::flip", Shapes::flipped)
                    .put("aten::unfold", Shapes::unfolded)
                    .put("aten::sum", Shapes::summed)
                    .put("aten::mean", Shapes::mean)
                    .put("aten::amax", Shapes::largest)
                    .put("aten::argmax", Shapes::placeOfLargest)
                    .put("aten::index_copy", Shapes::written)
                    .put(
                            "aten::full",
                            op -> op.add("Expand", op.scalar(1), op.numbers(op.items(0))))
                    .put("aten::full_like", op -> op.add("Expand", op.scalar(1), shape(op)))
                    .put("aten::arange", Shapes::range)
                    .put("aten::zeros", op -> filled(op, op.numbers(op.items(0)), 0))
                    .put("aten::ones", op -> filled(op, op.numbers(op.items(0)), 1))
                    .put("aten::new_zeros", op -> filled(op, op.numbers(op.items(1)), 0))
                    .put("aten::zeros_like", op -> filled(op, shape(op), 0))
                    .put("aten::ones_like", op -> filled(op, shape(op), 1))
                    .buildOrThrow();

    static final ImmutableMap<String, ListConverter> LISTS =
            ImmutableMap.of(
                    "aten::split", Shapes::split,
                    "aten::split_with_sizes", (op, parts) -> splitWithSizes(op),
                    "aten::unbind", Shapes::unbound);

    private Shapes() {}

    private static int axis(Operator op) {
        return op.axis(1, op.axes(0));
    }

    private static String shape(Operator op) {
        return op.size(op.tensor(0), 0, op.axes(0));
    }

    private static String reshaped(Operator op) {
        return op.add("Reshape", op.tensor(0), op.numbers(op.items(1)));
    }

    private static String flattened(Operator op) {
        int axes = op.axes(0);
        int from = op.axis(1, axes);
        int to = op.axis(2, axes);
        List<String> sizes = new ArrayList<>();
        if (from > 0) {
            sizes.add(op.size(op.tensor(0), 0, from));
        }
        sizes.add(op.graph().integers(-1));
        if (to + 1 < axes) {
            sizes.add(op.size(op.tensor(0), to + 1, axes));
        }
        return op.add("Reshape", op.tensor(0), op.concat(sizes, 0));
    }

    private static String permuted(Operator op, List<Long> order) {
        List<Long> axes = order.stream().map(a -> Math.floorMod(a, (long) order.size())).toList();
        return op.add("Transpose", List.of(op.tensor(0)), attribute("perm", axes));
    }

    private static String transposed(Operator op) {
        int axes = op.axes(0);
        List<Long> order = new ArrayList<>(LongStream.range(0, axes).boxed().toList());
        Collections.swap(order, op.axis(1, axes), op.axis(2, axes));
        return permuted(op, order);
    }

    private static String unsqueezed(Operator op) {
        int axis = op.axis(1, op.axes(0) + 1);
        return op.add("Unsqueeze", op.tensor(0), op.graph().integers(axis));
    }

    private static String squeezed(Operator op) {
        return op.add("Squeeze", op.tensor(0), op.graph().integers(axis(op)));
    }

    /** Where libtorch keeps a size, by -1, ONNX does by 1. */
    private static String expanded(Operator op) {
        List<Argument> sizes =
                op.items(1).stream()
                        .map(
                                size ->
                                        size.equals(new Argument.Literal(-1L))
                                                ? (Argument) new Argument.Literal(1L)
                                                : size)
                        .toList();
        return op.add("Expand", op.tensor(0), op.numbers(sizes));
    }

    private static String sliced(Operator op) {
        String from = op.isNone(2) ? op.graph().integers(0) : op.number(2);
        String to = op.isNone(3) ? op.graph().integers(Long.MAX_VALUE) : op.number(3);
        return op.slice(op.tensor(0), axis(op), from, to, op.integer(4));
    }

    private static String selected(Operator op) {
        String index = op.scalar(2, DataType.INT64);
        return chosen(op, index, axis(op));
    }

    private static String chosen(Operator op, String indices, int axis) {
        return op.add("Gather", List.of(op.tensor(0), indices), attribute("axis", axis));
    }

    private static String gathered(Operator op) {
        return op.add(
                "GatherElements", List.of(op.tensor(0), op.tensor(2)), attribute("axis", axis(op)));
    }

    private static String embedded(Operator op) {
        return op.add("Gather", op.tensor(0), op.tensor(1));
    }

    /** The axis along which a list is joined. */
    private static int listAxis(Operator op) {
        return op.axis(1, op.node().result().sizes().size());
    }

    private static String stacked(Operator op) {
        int axis = listAxis(op);
        String axes = op.graph().integers(axis);
        List<String> parts =
                op.tensors(0).stream().map(part -> op.add("Unsqueeze", part, axes)).toList();
        return op.concat(parts, axis);
    }

    /** libtorch counts from the last axis, before and behind; ONNX has all before, then behind. */
    private static String padded(Operator op) {
        int axes = op.axes(0);
        List<Argument> pads = op.items(1);
        Argument none = new Argument.Literal(0L);
        Argument[] both = new Argument[2 * axes];
        for (int a = 0; a < axes; a++) {
            int k = 2 * (axes - 1 - a);
            both[a] = k < pads.size() ? pads.get(k) : none;
            both[axes + a] = k < pads.size() ? pads.get(k + 1) : none;
        }
        boolean hasMode = op.node().name().equals("aten::pad");
        int value = hasMode ? 3 : 2;
        boolean isZero = op.node().arguments().size() <= value || op.isNone(value);
        String filler = isZero ? op.graph().scalar(0, op.type()) : op.scalar(value);
        return op.add("Pad", op.tensor(0), op.numbers(List.of(both)), filler);
    }

    private static String rolled(Operator op) {
        List<Long> shifts = op.integers(1);
        List<Long> axes = op.integers(2);
        String rolled = op.tensor(0);
        for (int i = 0; i < axes.size(); i++) {
            int axis = Math.toIntExact(Math.floorMod(axes.get(i), (long) op.axes(0)));
            if (shifts.get(i) != 0) {
                String cut = op.graph().integers(-shifts.get(i));
                String first = op.graph().integers(0);
                String end = op.graph().integers(Long.MAX_VALUE);
                rolled =
                        op.concat(
                                List.of(
                                        op.slice(rolled, axis, cut, end, 1),
                                        op.slice(rolled, axis, first, cut, 1)),
                                axis);
            }
        }
        return rolled;
    }

    private static String flipped(Operator op) {
        String flipped = op.tensor(0);
        for (long axis : op.integers(1)) {
            String last = op.graph().integers(-1);
            String end = op.graph().integers(Long.MIN_VALUE);
            int from = Math.toIntExact(Math.floorMod(axis, (long) op.axes(0)));
            flipped = op.slice(flipped, from, last, end, -1);
        }
        return flipped;
    }

    /** Windows along an axis, whose elements come last. */
    private static String unfolded(Operator op) {
        OnnxGraph graph = op.graph();
        int axis = axis(op);
        long size = op.integer(2);
        long step = op.integer(3);
        String lengths = op.size(op.tensor(0), axis, axis + 1);
        String room = op.add("Sub", lengths, graph.integers(size - step));
        String count = op.squeezed(op.add("Div", room, graph.integers(step)));
        String zero = graph.scalar(0, DataType.INT64);
        String one = graph.scalar(1, DataType.INT64);
        String starts =
                op.add(
                        "Mul",
                        op.add("Range", zero, count, one),
                        graph.scalar(step, DataType.INT64));
        String places = graph.integers(LongStream.range(0, size).toArray());
        String windows = op.add("Add", op.add("Unsqueeze", starts, graph.integers(1)), places);
        String cut = chosen(op, windows, axis);
        int axes = op.axes(0) + 1;
        List<Long> order = new ArrayList<>(LongStream.range(0, axes).boxed().toList());
        order.add(order.remove(axis + 1));
        return op.add("Transpose", List.of(cut), attribute("perm", order));
    }

    private static String summed(Operator op) {
        long[] axes = op.integers(1).stream().mapToLong(Long::longValue).toArray();
        return op.add(
                "ReduceSum",
                List.of(op.tensor(0, op.type()), op.graph().integers(axes)),
                attribute("keepdims", op.flag(2) ? 1 : 0));
    }

    private static String mean(Operator op) {
        return op.graph().reduce("ReduceMean", op.tensor(0, op.type()), op.integers(1), op.flag(2));
    }

    private static String largest(Operator op) {
        return op.graph().reduce("ReduceMax", op.tensor(0), op.integers(1), op.flag(2));
    }

    private static String placeOfLargest(Operator op) {
        return op.add(
                "ArgMax",
                List.of(op.tensor(0)),
                attribute("axis", axis(op)),
                attribute("keepdims", op.flag(2) ? 1 : 0));
    }

    /** Rows of one tensor at places of another. */
    private static String written(Operator op) {
        String places = op.add("Unsqueeze", op.tensor(2), op.graph().integers(1));
        return op.add("ScatterND", op.tensor(0), places, op.tensor(3));
    }

    private static String range(Operator op) {
        DataType type = op.type();
        int numbers = op.node().arguments().size();
        String from = numbers > 1 ? op.scalar(0) : op.graph().scalar(0, type);
        String to = op.scalar(numbers > 1 ? 1 : 0);
        String step = numbers > 2 ? op.scalar(2) : op.graph().scalar(1, type);
        return op.add("Range", from, to, step);
    }

    private static String filled(Operator op, String shape, int value) {
        return op.add("Expand", op.graph().scalar(value, op.type()), shape);
    }

    private static List<String> split(Operator op, int parts) {
        long size = op.integer(1);
        int axis = op.axis(2, op.axes(0));
        return IntStream.range(0, parts)
                .mapToObj(
                        i ->
                                op.slice(
                                        op.tensor(0),
                                        axis,
                                        op.graph().integers(i * size),
                                        op.graph().integers((i + 1) * size),
                                        1))
                .toList();
    }

    private static List<String> splitWithSizes(Operator op) {
        int axis = op.axis(2, op.axes(0));
        return op.graph()
                .add(
                        "Split",
                        List.of(op.tensor(0), op.numbers(op.items(1))),
                        op.items(1).size(),
                        attribute("axis", axis));
    }

    private static List<String> unbound(Operator op, int parts) {
        int axis = op.axis(1, op.axes(0));
        return IntStream.range(0, parts)
                .mapToObj(i -> chosen(op, op.graph().scalar(i, DataType.INT64), axis))
                .toList();
    }
}
