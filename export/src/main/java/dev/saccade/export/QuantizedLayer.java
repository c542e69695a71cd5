package dev.saccade.export;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;

import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.Graph.Weight;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * An operator of a layer to quantize. A layer that several levels share has several operators.
 *
 * @param name dotted name of the layer
 * @param node convolution or linear operator with a constant weight
 * @param relu ReLU that alone uses the result
 */
record QuantizedLayer(String name, Node node, Optional<Node> relu) {

    private static final Set<String> OPERATORS = Set.of("aten::conv2d", "aten::linear");

    /** Returns the operators of the named layers, in the order of the graph. */
    static List<QuantizedLayer> of(Graph graph, Set<String> names) {
        Multiset<Value> uses = HashMultiset.create(graph.outputs());
        Map<Value, Node> relus = new HashMap<>();
        for (Node node : graph.nodes()) {
            node.inputs().forEach(uses::add);
            if (node.name().equals("aten::relu")) {
                relus.put(node.value(0), node);
            }
        }
        List<QuantizedLayer> layers = new ArrayList<>();
        for (Node node : graph.nodes()) {
            Weight weight =
                    OPERATORS.contains(node.name()) ? graph.weights().get(node.value(1)) : null;
            String name = weight == null ? "" : weight.name().replaceAll("\\.weight$", "");
            if (names.contains(name)) {
                Node relu = uses.count(node.result()) == 1 ? relus.get(node.result()) : null;
                layers.add(new QuantizedLayer(name, node, Optional.ofNullable(relu)));
            }
        }
        return layers;
    }

    /**
     * Returns whether the output is quantized: ONNX Runtime computes convolutions and products of
     * matrices with integers only if their output is quantized, but not products of tokens.
     */
    boolean quantizesOutput() {
        return node.name().equals("aten::conv2d") || input().sizes().size() == 2;
    }

    Value input() {
        return node.value(0);
    }

    /** Returns the result, after ReLU if any. */
    Value output() {
        return relu.orElse(node).result();
    }

    /** Returns the values to quantize. */
    Stream<Value> activations() {
        return quantizesOutput() ? Stream.of(input(), output()) : Stream.of(input());
    }
}
