package dev.saccade.export;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.BiMap;
import com.google.common.collect.HashBiMap;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Lists;
import com.google.common.collect.Maps;
import com.google.common.collect.Streams;
import com.google.common.primitives.Longs;

import dev.saccade.checkpoint.Tensor;

import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Computation of a model as libtorch operators, in execution order. Weights are constants. */
public record Graph(
        ImmutableList<Value> inputs,
        ImmutableMap<Value, Weight> weights,
        ImmutableList<Node> nodes,
        ImmutableList<Value> outputs) {

    /** Operator {@code (boxes, scores, groups, iou, score, most) -> (positions, counts)}. */
    public static final String NMS = "saccade::nms";

    /** Operator {@code (maps, rois, levels, scales, size, sampling_ratio, aligned) -> pooled}. */
    public static final String ROI_ALIGN = "saccade::roi_align";

    /**
     * Operator {@code (x, scale, zero_point) -> x} that quantizes to 8 unsigned bits and back, in
     * ONNX only.
     */
    public static final String FAKE_QUANTIZE = "saccade::fake_quantize";

    /**
     * Operator {@code (weight, scales, zero_points, axis) -> weight} for 8-bit weights, in ONNX
     * only.
     */
    public static final String DEQUANTIZE = "saccade::dequantize";

    /**
     * A tensor, or a list of tensors.
     *
     * @param id unique in the graph, and the same if the model is recorded at other image sizes
     * @param type libtorch's element type, such as {@code Float}; empty for a list
     * @param sizes recorded sizes; -1 for variable sizes
     */
    public record Value(int id, String type, ImmutableList<Long> sizes) {

        static Value of(int id, String type, Shape shape) {
            return new Value(id, type, ImmutableList.copyOf(Longs.asList(shape.getShape())));
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Value value && value.id == id;
        }

        @Override
        public int hashCode() {
            return id;
        }
    }

    /** A constant tensor, named after the checkpoint parameter that it is computed from, if any. */
    public record Weight(String name, Tensor tensor) {}

    public sealed interface Argument {

        record TensorRef(Value value) implements Argument {}

        record Items(ImmutableList<Argument> items) implements Argument {}

        /** A {@link Long}, {@link Double}, {@link Boolean}, {@link String} or null. */
        record Literal(Object value) implements Argument {}

        /** An integer that depends on tensor sizes. */
        record Size(SizeExpression expression) implements Argument {}

        /** Returns the tensors in the argument. */
        default Stream<Value> values() {
            if (this instanceof TensorRef of) {
                return Stream.of(of.value());
            } else if (this instanceof Items list) {
                return list.items().stream().flatMap(Argument::values);
            }
            return this instanceof Size size
                    ? size.expression().sizes().stream().map(SizeExpression.SizeOf::value)
                    : Stream.of();
        }

        /** Returns the argument with its tensors replaced. */
        default Argument map(UnaryOperator<Value> change) {
            if (this instanceof TensorRef of) {
                return new TensorRef(change.apply(of.value()));
            } else if (this instanceof Items list) {
                return new Items(
                        list.items().stream()
                                .map(item -> item.map(change))
                                .collect(ImmutableList.toImmutableList()));
            }
            return this instanceof Size size ? new Size(size.expression().map(change)) : this;
        }
    }

    /** An operator with its overload, such as {@code aten::add.Tensor}. */
    public record Node(
            String operator,
            ImmutableList<Argument> arguments,
            ImmutableMap<String, Argument> keywords,
            ImmutableList<Value> results) {

        /** Returns the name without the overload. */
        public String name() {
            int dot = operator.indexOf('.');
            return dot < 0 ? operator : operator.substring(0, dot);
        }

        /** Returns the only result. */
        public Value result() {
            return results.get(0);
        }

        /** Returns all inputs, including tensors of which only the sizes are used. */
        public Stream<Value> inputs() {
            return Stream.concat(arguments.stream(), keywords.values().stream())
                    .flatMap(Argument::values);
        }

        public Value value(int place) {
            return ((Argument.TensorRef) arguments.get(place)).value();
        }

        public Object literal(int place) {
            return ((Argument.Literal) arguments.get(place)).value();
        }

        Node replaced(Map<Value, Value> others) {
            UnaryOperator<Value> change = value -> others.getOrDefault(value, value);
            return new Node(
                    operator,
                    ImmutableList.copyOf(Lists.transform(arguments, each -> each.map(change))),
                    ImmutableMap.copyOf(Maps.transformValues(keywords, each -> each.map(change))),
                    results);
        }

        Node withResults(ImmutableList<Value> others) {
            return new Node(operator, arguments, keywords, others);
        }

        /** Returns operator {@code other} with new arguments, but the same keywords and results. */
        Node as(String other, List<Argument> given) {
            return new Node(other, ImmutableList.copyOf(given), keywords, results);
        }
    }

    /**
     * Returns a unique name of letters, digits and underscores for each weight. A kernel shared by
     * several levels may occur several times, folded with different normalizations.
     */
    public Map<Value, String> weightNames() {
        BiMap<Value, String> names = HashBiMap.create();
        weights.forEach(
                (value, weight) -> {
                    String name = weight.name().replaceAll("\\W", "_");
                    String free = name;
                    for (int k = 2; names.containsValue(free); k++) {
                        free = name + "_" + k;
                    }
                    names.put(value, free);
                });
        return names;
    }

    Graph replaced(Map<Value, Value> others) {
        UnaryOperator<Value> change = value -> others.getOrDefault(value, value);
        return new Graph(
                inputs,
                weights,
                ImmutableList.copyOf(Lists.transform(nodes, node -> node.replaced(others))),
                ImmutableList.copyOf(Lists.transform(outputs, change::apply)));
    }

    ImmutableList<Value> results() {
        return nodes.stream()
                .flatMap(node -> node.results().stream())
                .collect(ImmutableList.toImmutableList());
    }

    int nextId() {
        return 1
                + Streams.concat(inputs.stream(), weights.keySet().stream(), results().stream())
                        .mapToInt(Value::id)
                        .max()
                        .orElse(0);
    }

    /** Returns the part of the graph that computes the given outputs. */
    Graph withOutputs(List<Value> others) {
        return Simplification.needed(
                new Graph(inputs, weights, nodes, ImmutableList.copyOf(others)));
    }

    Graph with(Map<Value, Weight> otherWeights, List<Node> otherNodes) {
        return new Graph(
                inputs,
                ImmutableMap.copyOf(otherWeights),
                ImmutableList.copyOf(otherNodes),
                outputs);
    }
}
