package dev.saccade.export;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Argument.Items;
import dev.saccade.export.Graph.Argument.Literal;
import dev.saccade.export.Graph.Argument.TensorRef;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.Graph.Weight;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * Inserts quantization into a graph. Activations are quantized to 8 unsigned bits and back. Weights
 * are stored as 8 signed bits with a scale per output channel. Runtimes that find these operators
 * around a convolution or matrix product compute it with integers.
 *
 * <p>All operators that use a quantized activation read the quantized values. Otherwise, a runtime
 * would have to compute it in integers and in float32. The sum of a residual block is computed with
 * integers, too, as all its inputs are quantized.
 */
final class GraphQuantization {

    /** Largest magnitude of a weight; -128 is unused, so that the numbers are symmetric. */
    private static final int LARGEST_WEIGHT = 127;

    private final Map<Value, Weight> weights;
    private final Map<Value, ActivationRange> ranges;
    private final List<Node> nodes = new ArrayList<>();

    /** Float32 weights by the original weight, which several levels may share. */
    private final Map<Value, Value> restored = new HashMap<>();

    private int next;

    private GraphQuantization(Graph graph, Map<Value, ActivationRange> ranges) {
        this.weights = new LinkedHashMap<>(graph.weights());
        this.ranges = ranges;
        next = graph.nextId();
    }

    /**
     * Returns a graph with quantized layers.
     *
     * @param ranges range of each {@linkplain QuantizedLayer#activations activation}
     */
    static Graph of(Graph graph, List<QuantizedLayer> layers, Map<Value, ActivationRange> ranges) {
        GraphQuantization quantization = new GraphQuantization(graph, ranges);
        Map<Value, Value> quantized = new HashMap<>();
        List<Value> activations =
                layers.stream().flatMap(QuantizedLayer::activations).distinct().toList();
        Map<Node, QuantizedLayer> byNode = new HashMap<>();
        layers.forEach(layer -> byNode.put(layer.node(), layer));
        graph.inputs().stream()
                .filter(activations::contains)
                .forEach(value -> quantized.put(value, quantization.fakeQuantize(value)));
        for (Node node : graph.nodes()) {
            Node now = node.replaced(quantized);
            if (byNode.containsKey(node)) {
                quantization.addQuantized(now);
            } else {
                quantization.nodes.add(now);
            }
            node.results().stream()
                    .filter(activations::contains)
                    .forEach(value -> quantized.put(value, quantization.fakeQuantize(value)));
        }
        return Simplification.needed(graph.with(quantization.weights, quantization.nodes));
    }

    /**
     * Returns a graph with two outputs per layer: the mean square of its output, and of the error
     * if only this layer is quantized.
     */
    static Graph errors(
            Graph graph, List<QuantizedLayer> layers, Map<Value, ActivationRange> ranges) {
        GraphQuantization quantization = new GraphQuantization(graph, ranges);
        quantization.nodes.addAll(graph.nodes());
        ImmutableList.Builder<Value> outputs = ImmutableList.builder();
        for (QuantizedLayer layer : layers) {
            Value expected = layer.output();
            Value got = quantization.addCopy(layer);
            Value difference =
                    quantization.add(
                            "aten::sub.Tensor", expected, ref(expected), ref(got), literal(1L));
            outputs.add(quantization.meanSquare(expected), quantization.meanSquare(difference));
        }
        return graph.with(quantization.weights, quantization.nodes).withOutputs(outputs.build());
    }

    /** Adds a quantized layer beside the original, and returns its quantized output. */
    private Value addCopy(QuantizedLayer layer) {
        Value input = fakeQuantize(layer.input());
        Node node = layer.node();
        Value result = value(node.result());
        addQuantized(
                node.replaced(Map.of(layer.input(), input)).withResults(ImmutableList.of(result)));
        Value output = layer.relu().isPresent() ? add("aten::relu", result, ref(result)) : result;
        return layer.quantizesOutput() ? fakeQuantize(output, ranges.get(layer.output())) : output;
    }

    private Value meanSquare(Value x) {
        Value square = add("aten::mul.Tensor", x, ref(x), ref(x));
        ImmutableList<Argument> axes =
                LongStream.range(0, x.sizes().size())
                        .<Argument>mapToObj(GraphQuantization::literal)
                        .collect(ImmutableList.toImmutableList());
        Value scalar = new Value(next++, x.type(), ImmutableList.of());
        Argument keepsAxes = literal(false);
        addNode("aten::mean.dim", scalar, ref(square), new Items(axes), keepsAxes, literal(null));
        return scalar;
    }

    private Value fakeQuantize(Value x) {
        return fakeQuantize(x, ranges.get(x));
    }

    private Value fakeQuantize(Value x, ActivationRange range) {
        double scale = range.scale();
        return add(
                Graph.FAKE_QUANTIZE, x, ref(x), literal(scale), literal((long) range.zeroPoint()));
    }

    /** Adds a convolution or linear operator with 8-bit weights. */
    private void addQuantized(Node node) {
        if (node.name().equals("aten::conv2d")) {
            Value weight = restored.computeIfAbsent(node.value(1), each -> restore(each, false));
            List<Argument> arguments = new ArrayList<>(node.arguments());
            arguments.set(1, ref(weight));
            nodes.add(node.as(node.operator(), arguments));
            return;
        }
        // ONNX Runtime multiplies integers only if the weight is not transposed when it is used.
        Value weight = restored.computeIfAbsent(node.value(1), each -> restore(each, true));
        if (!(node.arguments().get(2) instanceof TensorRef)) {
            addNode("aten::matmul", node.result(), node.arguments().get(0), ref(weight));
            return;
        }
        Value product = add("aten::matmul", node.result(), node.arguments().get(0), ref(weight));
        Value bias = bias(node);
        addNode("aten::add.Tensor", node.result(), ref(product), ref(bias), literal(1L));
    }

    /**
     * Returns the bias of a linear operator. For tokens, it has as many axes as the input: ONNX
     * Runtime would fuse a vector with the product, and then compute with float32.
     */
    private Value bias(Node node) {
        int axes = node.value(0).sizes().size();
        if (axes == 2) {
            return node.value(2);
        }
        Weight bias = weights.get(node.value(2));
        long[] shape = new long[axes];
        Arrays.fill(shape, 1);
        shape[axes - 1] = bias.tensor().elements();
        return constant(
                bias.name(),
                new Tensor(bias.tensor().type(), new Shape(shape), bias.tensor().data()));
    }

    /** Rounds a weight {@code [out, ...]} to integers, and returns its float32 values. */
    private Value restore(Value weight, boolean transposes) {
        String name = weights.get(weight).name();
        Tensor tensor = weights.get(weight).tensor();
        int out = Math.toIntExact(tensor.shape().get(0));
        float[] values = new float[Math.toIntExact(tensor.elements())];
        FloatBuffer floats = tensor.floats();
        floats.get(values);
        int each = values.length / out;
        float[] scales = new float[out];
        byte[] integers = new byte[values.length];
        for (int c = 0; c < out; c++) {
            float largest = 0;
            for (int k = 0; k < each; k++) {
                largest = Math.max(largest, Math.abs(values[c * each + k]));
            }
            scales[c] = Math.max(largest / LARGEST_WEIGHT, Float.MIN_NORMAL);
            for (int k = 0; k < each; k++) {
                long rounded = Math.round((double) values[c * each + k] / scales[c]);
                integers[transposes ? k * out + c : c * each + k] = (byte) rounded;
            }
        }
        Shape shape = transposes ? new Shape(each, out) : tensor.shape();
        Tensor stored = new Tensor(ElementType.INT8, shape, ByteBuffer.wrap(integers));
        Value integer = constant(name, stored);
        Shape channels = new Shape(out);
        Value scale = constant(name + "_scale", Tensor.of(channels, scales));
        // ONNX Runtime requires a zero point of the same shape for products of matrices.
        Tensor zeros = new Tensor(ElementType.INT8, channels, ByteBuffer.allocate(out));
        Value zeroPoint = constant(name + "_zero_point", zeros);
        Value result = Value.of(next++, weight.type(), shape);
        addNode(
                Graph.DEQUANTIZE,
                result,
                ref(integer),
                ref(scale),
                ref(zeroPoint),
                literal(transposes ? 1L : 0L));
        return result;
    }

    private Value constant(String name, Tensor tensor) {
        Value value = Value.of(next++, tensor.type().torchName(), tensor.shape());
        weights.put(value, new Weight(name, tensor));
        return value;
    }

    /** Returns a new value with the type and sizes of another. */
    private Value value(Value like) {
        return new Value(next++, like.type(), like.sizes());
    }

    private Value add(String operator, Value like, Argument... arguments) {
        Value result = value(like);
        addNode(operator, result, arguments);
        return result;
    }

    private void addNode(String operator, Value result, Argument... arguments) {
        nodes.add(
                new Node(
                        operator,
                        ImmutableList.copyOf(arguments),
                        ImmutableMap.of(),
                        ImmutableList.of(result)));
    }

    private static Argument ref(Value value) {
        return new TensorRef(value);
    }

    private static Argument literal(Object value) {
        return new Literal(value);
    }
}
