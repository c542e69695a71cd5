package dev.saccade.export;

import ai.djl.Device;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.Libtorch;
import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.Graph.Weight;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Removes identities and repeated operators, and precomputes values that depend only on weights.
 */
final class Simplification {

    /** Operators that give what they are given, once there are no gradients. */
    private static final Set<String> IDENTITIES =
            Set.of(
                    "aten::clone",
                    "aten::contiguous",
                    "aten::detach",
                    "aten::dropout",
                    "aten::feature_dropout",
                    "aten::alias");

    private static final Set<String> IN_PLACE =
            Set.of("aten::add", "aten::sub", "aten::mul", "aten::div");

    private static final Set<String> SHORT = Set.of("Half", "BFloat16");

    private Simplification() {}

    /** Returns a graph that computes the same. */
    static Graph of(Graph graph) {
        Graph single = withoutRepetitions(withoutIdentities(withTypes(graph)));
        return needed(rounded(folded(needed(single))));
    }

    /**
     * Casts what was computed in place, and is recorded as if it were not, to the type of that
     * place.
     */
    private static Graph withTypes(Graph graph) {
        List<Node> nodes = new ArrayList<>();
        int next = graph.nextId();
        for (Node node : graph.nodes()) {
            Value result = node.results().isEmpty() ? null : node.result();
            boolean isWider =
                    IN_PLACE.contains(node.name())
                            && SHORT.contains(result.type())
                            && node.taken().anyMatch(value -> value.type().equals("Float"));
            if (!isWider) {
                nodes.add(node);
                continue;
            }
            Value wide = new Value(next++, "Float", result.sizes());
            nodes.add(node.giving(ImmutableList.of(wide)));
            nodes.add(
                    new Node(
                            "aten::to.dtype",
                            ImmutableList.of(
                                    new Argument.Of(wide),
                                    new Argument.Literal(result.type().equals("Half") ? 5L : 15L),
                                    new Argument.Literal(false),
                                    new Argument.Literal(false),
                                    new Argument.Literal(null)),
                            ImmutableMap.of(),
                            ImmutableList.of(result)));
        }
        return graph.with(graph.weights(), nodes);
    }

    /** Rounds weights to bfloat16, of which there are no arrays in Java. */
    private static Graph rounded(Graph graph) {
        Map<Value, Weight> weights = new LinkedHashMap<>(graph.weights());
        List<Node> rest = new ArrayList<>();
        for (Node node : graph.nodes()) {
            boolean isCast = node.name().equals("aten::to") && isShort(node);
            Weight weight = isCast ? weights.get(node.value(0)) : null;
            if (weight == null) {
                rest.add(node);
            } else {
                Tensor half = weight.tensor().rounded(ElementType.BFLOAT16);
                weights.put(node.result(), new Weight(weight.name(), half));
            }
        }
        return graph.with(weights, rest);
    }

    private static boolean isShort(Node node) {
        return node.results().stream().anyMatch(result -> result.type().equals("BFloat16"));
    }

    private static Graph withoutIdentities(Graph graph) {
        Map<Value, Value> same = new HashMap<>();
        List<Node> kept = new ArrayList<>();
        for (Node node : graph.nodes()) {
            Node now = node.replaced(same);
            if (isIdentity(now)) {
                same.put(now.result(), now.value(0));
            } else {
                kept.add(withoutOrder(convolution(now)));
            }
        }
        return graph.with(graph.weights(), kept).replaced(same);
    }

    /** Leaves out operators that compute what another one before them does. */
    private static Graph withoutRepetitions(Graph graph) {
        Map<Value, Value> same = new HashMap<>();
        Map<Node, Node> first = new HashMap<>();
        List<Node> kept = new ArrayList<>();
        for (Node node : graph.nodes()) {
            Node now = node.replaced(same);
            Node before = first.putIfAbsent(now.giving(ImmutableList.of()), now);
            if (before == null) {
                kept.add(now);
            } else {
                for (int r = 0; r < now.results().size(); r++) {
                    same.put(now.results().get(r), before.results().get(r));
                }
            }
        }
        return graph.with(graph.weights(), kept).replaced(same);
    }

    private static boolean isIdentity(Node node) {
        return IDENTITIES.contains(node.name())
                || (node.operator().equals("aten::to.dtype")
                        && node.value(0).type().equals(node.result().type()));
    }

    /** Calls a convolution by the name that others know it by. */
    private static Node convolution(Node node) {
        if (!node.operator().equals("aten::_convolution")) {
            return node;
        }
        ImmutableList<Argument> given = node.arguments();
        boolean isTransposed = (Boolean) node.literal(6);
        List<Argument> arguments = new ArrayList<>(given.subList(0, 5));
        arguments.addAll(
                isTransposed
                        ? List.of(given.get(7), given.get(8), given.get(5))
                        : List.of(given.get(5), given.get(8)));
        return node.as(isTransposed ? "aten::conv_transpose2d" : "aten::conv2d", arguments);
    }

    /** The order of the candidates is for GPUs; whoever has none sorts them. */
    private static Node withoutOrder(Node node) {
        if (!node.name().equals(Detecting.NMS)) {
            return node;
        }
        List<Argument> given = new ArrayList<>(node.arguments());
        given.remove(3);
        return node.as(node.operator(), given);
    }

    /** Leaves out what no output takes. */
    static Graph needed(Graph graph) {
        Map<Value, Node> makers = new HashMap<>();
        graph.nodes().forEach(node -> node.results().forEach(r -> makers.put(r, node)));
        Set<Value> needed = new HashSet<>();
        Deque<Value> open = new ArrayDeque<>(graph.outputs());
        while (!open.isEmpty()) {
            Value value = open.pop();
            if (needed.add(value) && makers.containsKey(value)) {
                makers.get(value).taken().forEach(open::push);
            }
        }
        return graph.with(
                Maps.filterKeys(graph.weights(), needed::contains),
                graph.nodes().stream()
                        .filter(node -> node.results().stream().anyMatch(needed::contains))
                        .toList());
    }

    /** Computes what depends on weights alone. */
    private static Graph folded(Graph graph) {
        Set<Value> known = new HashSet<>(graph.weights().keySet());
        List<Node> early = new ArrayList<>();
        List<Node> late = new ArrayList<>();
        for (Node node : graph.nodes()) {
            if (node.taken().allMatch(known::contains) && !isShort(node)) {
                known.addAll(node.results());
                early.add(node);
            } else {
                late.add(node);
            }
        }
        Set<Value> made = new LinkedHashSet<>();
        early.forEach(node -> made.addAll(node.results()));
        Set<Value> wanted = new LinkedHashSet<>();
        late.forEach(node -> node.taken().filter(made::contains).forEach(wanted::add));
        graph.outputs().stream().filter(made::contains).forEach(wanted::add);
        if (wanted.isEmpty()) {
            return graph;
        }
        Map<Value, Weight> weights = new LinkedHashMap<>(graph.weights());
        weights.putAll(computed(graph, early, List.copyOf(wanted)));
        return graph.with(weights, late);
    }

    private static Map<Value, Weight> computed(Graph graph, List<Node> nodes, List<Value> wanted) {
        Graph part =
                new Graph(
                        ImmutableList.of(),
                        graph.weights(),
                        ImmutableList.copyOf(nodes),
                        ImmutableList.copyOf(wanted));
        Map<Value, Weight> computed = new LinkedHashMap<>();
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            NDList results = GraphScript.run(part, List.of(), manager);
            for (int i = 0; i < wanted.size(); i++) {
                computed.put(wanted.get(i), new Weight("folded_" + i, Tensor.of(results.get(i))));
            }
        }
        return computed;
    }
}
