package dev.saccade.export.onnx;

import static dev.saccade.export.onnx.OnnxGraph.attribute;

import ai.onnx.proto.OnnxMl.TensorProto.DataType;

import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.Longs;

import dev.saccade.export.Graph.Argument;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Operators that move, select, reduce or create elements. */
final class ShapeOperators {

    static final ImmutableMap<String, Operator.Converter> CONVERTERS =
            ImmutableMap.<String, Operator.Converter>builder()
                    .put("aten::reshape", ShapeOperators::reshaped)
                    .put("aten::view", ShapeOperators::reshaped)
                    .put("aten::flatten", ShapeOperators::flattened)
                    .put("aten::permute", op -> permuted(op, op.integers(1)))
                    .put("aten::transpose", ShapeOperators::transposed)
                    .put("aten::t", op -> permuted(op, List.of(1L, 0L)))
                    .put("aten::unsqueeze", ShapeOperators::unsqueezed)
                    .put("aten::squeeze", ShapeOperators::squeezed)
                    .put("aten::expand", ShapeOperators::expanded)
                    .put("aten::slice", ShapeOperators::sliced)
                    .put("aten::select", ShapeOperators::selected)
                    .put(
                            "aten::index_select",
                            op -> op.gather(op.tensor(0), op.tensor(2), op.axis(1)))
                    .put("aten::gather", ShapeOperators::gathered)
                    .put("aten::cat", op -> op.concat(op.tensors(0), listAxis(op)))
                    .put("aten::stack", ShapeOperators::stacked)
                    .put("aten::pad", ShapeOperators::padded)
                    .put("aten::constant_pad_nd", ShapeOperators::padded)
                    .put("aten::roll", ShapeOperators::rolled)
                    .put("aten::flip", ShapeOperators::flipped)
                    .put("aten::unfold", ShapeOperators::unfolded)
                    .put("aten::sum", ShapeOperators::summed)
                    .put("aten::mean", ShapeOperators::mean)
                    .put("aten::amax", ShapeOperators::amax)
                    .put("aten::argmax", ShapeOperators::argmax)
                    .put("aten::index_copy", ShapeOperators::indexCopy)
                    .put(
                            "aten::full",
                            op -> op.add("Expand", op.scalar(1), op.numbers(op.items(0))))
                    .put("aten::full_like", op -> op.add("Expand", op.scalar(1), shape(op)))
                    .put("aten::arange", ShapeOperators::range)
                    .put("aten::zeros", op -> filled(op, op.numbers(op.items(0)), 0))
                    .put("aten::ones", op -> filled(op, op.numbers(op.items(0)), 1))
                    .put("aten::new_zeros", op -> filled(op, op.numbers(op.items(1)), 0))
                    .put("aten::zeros_like", op -> filled(op, shape(op), 0))
                    .put("aten::ones_like", op -> filled(op, shape(op), 1))
                    .buildOrThrow();

    static final ImmutableMap<String, Operator.ListConverter> LISTS =
            ImmutableMap.of(
                    "aten::split", ShapeOperators::split,
                    "aten::split_with_sizes", ShapeOperators::splitWithSizes,
                    "aten::unbind", ShapeOperators::unbound);

    private static final Argument KEPT = new Argument.Literal(-1L);

    private ShapeOperators() {}

    private static String shape(Operator op) {
        return op.size(op.tensor(0), 0, op.axes(0));
    }

    private static String reshaped(Operator op) {
        return op.add("Reshape", op.tensor(0), op.numbers(op.items(1)));
    }

    private static String flattened(Operator op) {
        int axes = op.axes(0);
        int from = op.axis(1);
        int to = op.axis(2);
        List<String> sizes = new ArrayList<>();
        if (from > 0) {
            sizes.add(op.size(op.tensor(0), 0, from));
        }
        sizes.add(op.ints(-1));
        if (to + 1 < axes) {
            sizes.add(op.size(op.tensor(0), to + 1, axes));
        }
        return op.add("Reshape", op.tensor(0), op.concat(sizes, 0));
    }

    private static String permuted(Operator op, List<Long> order) {
        List<Long> axes = order.stream().map(a -> Math.floorMod(a, (long) order.size())).toList();
        return op.transpose(op.tensor(0), axes);
    }

    private static String transposed(Operator op) {
        return op.swapAxes(op.tensor(0), op.axes(0), op.axis(1), op.axis(2));
    }

    private static String unsqueezed(Operator op) {
        return op.unsqueeze(op.tensor(0), op.axis(1, op.axes(0) + 1));
    }

    private static String squeezed(Operator op) {
        return op.add("Squeeze", op.tensor(0), op.ints(op.axis(1)));
    }

    /** Expands a tensor; libtorch keeps a size with -1, ONNX with 1. */
    private static String expanded(Operator op) {
        Argument one = new Argument.Literal(1L);
        List<Argument> sizes =
                op.items(1).stream().map(size -> size.equals(KEPT) ? one : size).toList();
        return op.add("Expand", op.tensor(0), op.numbers(sizes));
    }

    private static String sliced(Operator op) {
        String from = op.isNone(2) ? op.ints(0) : op.number(2);
        String to = op.isNone(3) ? op.ints(Long.MAX_VALUE) : op.number(3);
        return op.slice(op.tensor(0), op.axis(1), from, to, op.integer(4));
    }

    private static String selected(Operator op) {
        return op.gather(op.tensor(0), op.scalar(2, DataType.INT64), op.axis(1));
    }

    private static String gathered(Operator op) {
        return op.add(
                "GatherElements",
                List.of(op.tensor(0), op.tensor(2)),
                attribute("axis", op.axis(1)));
    }

    /** Returns the axis along which a list is joined. */
    private static int listAxis(Operator op) {
        return op.axis(1, op.node().result().sizes().size());
    }

    private static String stacked(Operator op) {
        int axis = listAxis(op);
        return op.concat(
                op.tensors(0).stream().map(part -> op.unsqueeze(part, axis)).toList(), axis);
    }

    /** Pads; libtorch lists (start, end) pairs from the last axis, ONNX all starts, then ends. */
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
        String filler = isZero ? op.constant(0) : op.scalar(value);
        return op.add("Pad", op.tensor(0), op.numbers(List.of(both)), filler);
    }

    private static String rolled(Operator op) {
        List<Long> shifts = op.integers(1);
        List<Long> axes = op.integers(2);
        String rolled = op.tensor(0);
        for (int i = 0; i < axes.size(); i++) {
            int axis = Math.toIntExact(Math.floorMod(axes.get(i), (long) op.axes(0)));
            if (shifts.get(i) != 0) {
                String cut = op.ints(-shifts.get(i));
                String last = op.slice(rolled, axis, cut, op.ints(Long.MAX_VALUE), 1);
                String first = op.slice(rolled, axis, op.ints(0), cut, 1);
                rolled = op.concat(List.of(last, first), axis);
            }
        }
        return rolled;
    }

    private static String flipped(Operator op) {
        String flipped = op.tensor(0);
        for (long axis : op.integers(1)) {
            String last = op.ints(-1);
            String end = op.ints(Long.MIN_VALUE);
            int from = Math.toIntExact(Math.floorMod(axis, (long) op.axes(0)));
            flipped = op.slice(flipped, from, last, end, -1);
        }
        return flipped;
    }

    /** Extracts windows along an axis; their elements become the last axis. */
    private static String unfolded(Operator op) {
        int axis = op.axis(1);
        long size = op.integer(2);
        long step = op.integer(3);
        String lengths = op.size(op.tensor(0), axis, axis + 1);
        String lastStart = op.add("Sub", lengths, op.ints(size - step));
        String count = op.squeezed(op.add("Div", lastStart, op.ints(step)));
        String starts = op.add("Mul", op.range(count), op.index(step));
        String places = op.ints(LongStream.range(0, size).toArray());
        String indices = op.add("Add", op.unsqueeze(starts, 1), places);
        List<Long> order = new ArrayList<>(LongStream.rangeClosed(0, op.axes(0)).boxed().toList());
        order.add(order.remove(axis + 1));
        return op.transpose(op.gather(op.tensor(0), indices, axis), order);
    }

    private static String summed(Operator op) {
        return op.add(
                "ReduceSum",
                List.of(op.tensor(0, op.type()), op.ints(Longs.toArray(op.integers(1)))),
                attribute("keepdims", op.flag(2)));
    }

    private static String mean(Operator op) {
        return op.graph().reduce("ReduceMean", op.tensor(0, op.type()), op.integers(1), op.flag(2));
    }

    private static String amax(Operator op) {
        return op.graph().reduce("ReduceMax", op.tensor(0), op.integers(1), op.flag(2));
    }

    private static String argmax(Operator op) {
        return op.add(
                "ArgMax",
                List.of(op.tensor(0)),
                attribute("axis", op.axis(1)),
                attribute("keepdims", op.flag(2)));
    }

    /** Copies the rows of one tensor to given rows of another. */
    private static String indexCopy(Operator op) {
        return op.add("ScatterND", op.tensor(0), op.unsqueeze(op.tensor(2), 1), op.tensor(3));
    }

    private static String range(Operator op) {
        DataType type = op.type();
        int numbers = op.node().arguments().size();
        String from = numbers > 1 ? op.scalar(0) : op.scalarOf(0, type);
        String to = op.scalar(numbers > 1 ? 1 : 0);
        String step = numbers > 2 ? op.scalar(2) : op.scalarOf(1, type);
        return op.add("Range", from, to, step);
    }

    private static String filled(Operator op, String shape, int value) {
        return op.add("Expand", op.constant(value), shape);
    }

    private static List<String> split(Operator op) {
        long size = op.integer(1);
        int axis = op.axis(2);
        List<String> slices = new ArrayList<>();
        for (long i = 0; i < op.parts(); i++) {
            String end = op.ints((i + 1) * size);
            slices.add(op.slice(op.tensor(0), axis, op.ints(i * size), end, 1));
        }
        return slices;
    }

    private static List<String> splitWithSizes(Operator op) {
        int axis = op.axis(2);
        return op.graph()
                .add(
                        "Split",
                        List.of(op.tensor(0), op.numbers(op.items(1))),
                        op.items(1).size(),
                        attribute("axis", axis));
    }

    private static List<String> unbound(Operator op) {
        int axis = op.axis(1);
        return IntStream.range(0, op.parts())
                .mapToObj(i -> op.gather(op.tensor(0), op.index(i), axis))
                .toList();
    }
}
