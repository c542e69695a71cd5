package dev.saccade.export;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;

import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.Graph.Weight;

import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Folds batch normalization into the convolution before it. */
final class BatchNormFolding {

    private BatchNormFolding() {}

    static Graph of(Graph graph) {
        Multiset<Value> uses = HashMultiset.create(graph.outputs());
        Map<Value, Node> makers = new HashMap<>();
        for (Node node : graph.nodes()) {
            node.inputs().forEach(uses::add);
            node.results().forEach(result -> makers.put(result, node));
        }
        List<Node> nodes = new ArrayList<>();
        Map<Value, Weight> weights = new LinkedHashMap<>(graph.weights());
        int next = graph.nextId();
        for (Node node : graph.nodes()) {
            boolean isNorm =
                    node.operator().equals("aten::batch_norm") && !(Boolean) node.literal(5);
            Node convolution = isNorm ? makers.get(node.value(0)) : null;
            if (convolution == null
                    || !convolution.operator().equals("aten::conv2d")
                    || uses.count(node.value(0)) != 1
                    || !weights.containsKey(convolution.value(1))) {
                nodes.add(node);
                continue;
            }
            List<Weight> folded = folded(convolution, node, weights);
            List<Argument> arguments = new ArrayList<>(convolution.arguments());
            for (int i = 0; i < folded.size(); i++) {
                Weight weight = folded.get(i);
                Value value = Value.of(next++, node.result().type(), weight.tensor().shape());
                weights.put(value, weight);
                arguments.set(1 + i, new Argument.TensorRef(value));
            }
            nodes.add(
                    convolution.as(convolution.operator(), arguments).withResults(node.results()));
        }
        return Simplification.needed(graph.with(weights, nodes));
    }

    /** Returns kernel and bias of a convolution that includes the normalization. */
    private static List<Weight> folded(Node convolution, Node norm, Map<Value, Weight> weights) {
        float[] scale = floats(norm, 1, weights);
        float[] shift = floats(norm, 2, weights);
        float[] mean = floats(norm, 3, weights);
        float[] variance = floats(norm, 4, weights);
        double eps = (Double) norm.literal(7);
        Weight weight = weights.get(convolution.value(1));
        float[] kernel = floats(convolution, 1, weights);
        int each = kernel.length / mean.length;
        boolean hasBias = convolution.arguments().get(2) instanceof Argument.TensorRef;
        float[] bias = hasBias ? floats(convolution, 2, weights) : new float[mean.length];
        for (int c = 0; c < mean.length; c++) {
            double factor = scale[c] / Math.sqrt(variance[c] + eps);
            for (int k = c * each; k < (c + 1) * each; k++) {
                kernel[k] = (float) (kernel[k] * factor);
            }
            bias[c] = (float) ((bias[c] - mean[c]) * factor + shift[c]);
        }
        ElementType type = weight.tensor().type();
        String name = weight.name();
        return List.of(
                weight(name, type, Tensor.of(weight.tensor().shape(), kernel)),
                weight(
                        name.replaceAll("weight$", "") + "bias",
                        type,
                        Tensor.of(new Shape(mean.length), bias)));
    }

    private static Weight weight(String name, ElementType type, Tensor floats) {
        return new Weight(name, type == ElementType.FLOAT32 ? floats : floats.rounded(type));
    }

    private static float[] floats(Node node, int place, Map<Value, Weight> weights) {
        FloatBuffer values = weights.get(node.value(place)).tensor().floats();
        float[] copy = new float[values.remaining()];
        values.get(copy);
        return copy;
    }
}
