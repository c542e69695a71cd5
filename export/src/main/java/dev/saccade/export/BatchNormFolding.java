package dev.saccade.export;

import ai.djl.ndarray.types.Shape;

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

    /** Returns a graph that computes the same, but for rounding. */
    static Graph of(Graph graph) {
        Map<Value, Integer> uses = new HashMap<>();
        Map<Value, Integer> makers = new HashMap<>();
        for (int i = 0; i < graph.nodes().size(); i++) {
            int place = i;
            graph.nodes().get(i).taken().forEach(value -> uses.merge(value, 1, Integer::sum));
            graph.nodes().get(i).results().forEach(result -> makers.put(result, place));
        }
        graph.outputs().forEach(value -> uses.merge(value, 1, Integer::sum));
        List<Node> nodes = new ArrayList<>(graph.nodes());
        Map<Value, Weight> weights = new LinkedHashMap<>(graph.weights());
        int next = graph.nextId();
        for (int i = 0; i < nodes.size(); i++) {
            Node norm = nodes.get(i);
            if (!norm.operator().equals("aten::batch_norm") || (Boolean) norm.literal(5)) {
                continue;
            }
            Integer maker = makers.get(norm.value(0));
            Node convolution = maker == null ? null : nodes.get(maker);
            if (convolution == null
                    || !convolution.operator().equals("aten::conv2d")
                    || uses.get(norm.value(0)) != 1
                    || !weights.containsKey(convolution.value(1))) {
                continue;
            }
            Folded folded = folded(convolution, norm, weights);
            String name = weights.get(convolution.value(1)).name();
            String type = norm.result().type();
            Value kernel = Value.of(next++, type, folded.kernel.shape());
            Value bias = Value.of(next++, type, folded.bias.shape());
            weights.put(kernel, new Weight(name, folded.kernel));
            weights.put(bias, new Weight(name.replaceAll("weight$", "") + "bias", folded.bias));
            List<Argument> arguments = new ArrayList<>(convolution.arguments());
            arguments.set(1, new Argument.Of(kernel));
            arguments.set(2, new Argument.Of(bias));
            nodes.set(i, convolution.as(convolution.operator(), arguments).giving(norm.results()));
        }
        return Simplification.needed(graph.with(weights, nodes));
    }

    private record Folded(Tensor kernel, Tensor bias) {}

    private static Folded folded(Node convolution, Node norm, Map<Value, Weight> weights) {
        FloatBuffer scale = floats(norm, 1, weights);
        FloatBuffer shift = floats(norm, 2, weights);
        FloatBuffer mean = floats(norm, 3, weights);
        FloatBuffer variance = floats(norm, 4, weights);
        double eps = (Double) norm.literal(7);
        Tensor kernel = weights.get(convolution.value(1)).tensor();
        FloatBuffer values = kernel.floats();
        int channels = mean.remaining();
        int each = values.remaining() / channels;
        float[] folded = new float[channels * each];
        float[] bias = new float[channels];
        boolean hasBias = convolution.arguments().get(2) instanceof Argument.Of;
        FloatBuffer before = hasBias ? floats(convolution, 2, weights) : null;
        for (int c = 0; c < channels; c++) {
            double factor = scale.get(c) / Math.sqrt(variance.get(c) + eps);
            for (int k = 0; k < each; k++) {
                folded[c * each + k] = (float) (values.get(c * each + k) * factor);
            }
            double given = before == null ? 0 : before.get(c);
            bias[c] = (float) ((given - mean.get(c)) * factor + shift.get(c));
        }
        return new Folded(
                as(kernel, Tensor.of(kernel.shape(), folded)),
                as(kernel, Tensor.of(new Shape(channels), bias)));
    }

    /** Returns a tensor in the precision of another one. */
    private static Tensor as(Tensor other, Tensor floats) {
        return other.type() == ElementType.FLOAT32 ? floats : floats.rounded(other.type());
    }

    private static FloatBuffer floats(Node node, int place, Map<Value, Weight> weights) {
        return weights.get(node.value(place)).tensor().floats();
    }
}
