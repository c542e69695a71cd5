package dev.saccade.export;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;

import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.Libtorch;
import dev.saccade.core.ops.Functional;
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
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Removes identities and repeated operators; precomputes values that depend only on weights. */
final class Simplification {

    /** Operators that return their input in inference mode. */
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

    /** libtorch's {@code ScalarType} numbers of 16-bit types. */
    private static final Map<String, Long> SHORT = Map.of("Half", 5L, "BFloat16", 15L);

    private Simplification() {}

    static Graph of(Graph graph) {
        return needed(folded(needed(withoutRepetitions(withTypes(graph)))));
    }

    /** Casts results to 16 bits where an in-place operator was recorded as out-of-place. */
    private static Graph withTypes(Graph graph) {
        List<Node> nodes = new ArrayList<>();
        int next = graph.nextId();
        for (Node node : graph.nodes()) {
            Value result = node.results().isEmpty() ? null : node.result();
            boolean isWider =
                    IN_PLACE.contains(node.name())
                            && SHORT.containsKey(result.type())
                            && node.inputs().anyMatch(value -> value.type().equals("Float"));
            if (!isWider) {
                nodes.add(node);
                continue;
            }
            Value wide = new Value(next++, "Float", result.sizes());
            nodes.add(node.withResults(ImmutableList.of(wide)));
            Argument no = new Argument.Literal(false);
            ImmutableList<Argument> cast =
                    ImmutableList.of(
                            new Argument.TensorRef(wide),
                            new Argument.Literal(SHORT.get(result.type())),
                            no,
                            no,
                            new Argument.Literal(null));
            nodes.add(new Node("aten::to.dtype", cast, ImmutableMap.of(), node.results()));
        }
        return graph.with(graph.weights(), nodes);
    }

    /** Removes identities and operators that repeat an earlier one. */
    private static Graph withoutRepetitions(Graph graph) {
        Map<Value, Value> same = new HashMap<>();
        Map<Node, Node> first = new HashMap<>();
        List<Node> kept = new ArrayList<>();
        for (Node node : graph.nodes()) {
            Node now = withoutOrder(convolution(node.replaced(same)));
            if (isIdentity(now)) {
                same.put(now.result(), now.value(0));
                continue;
            }
            Node before = first.putIfAbsent(now.withResults(ImmutableList.of()), now);
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

    /** Replaces libtorch's internal convolution by the public operators. */
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

    /** Removes the argument {@code order} from NMS, as only the fused operator needs it. */
    private static Node withoutOrder(Node node) {
        if (!node.name().equals(Graph.NMS)) {
            return node;
        }
        List<Argument> given = new ArrayList<>(node.arguments());
        given.remove(3);
        return node.as(node.operator(), given);
    }

    /** Removes operators and weights that no output needs. */
    static Graph needed(Graph graph) {
        Map<Value, Node> producers = new HashMap<>();
        graph.nodes().forEach(node -> node.results().forEach(r -> producers.put(r, node)));
        Set<Value> needed = new HashSet<>();
        Deque<Value> open = new ArrayDeque<>(graph.outputs());
        while (!open.isEmpty()) {
            Value value = open.pop();
            if (needed.add(value) && producers.containsKey(value)) {
                producers.get(value).inputs().forEach(open::push);
            }
        }
        return graph.with(
                Maps.filterKeys(graph.weights(), needed::contains),
                graph.nodes().stream()
                        .filter(node -> node.results().stream().anyMatch(needed::contains))
                        .toList());
    }

    private static Graph folded(Graph graph) {
        Map<Value, String> known =
                new HashMap<>(Maps.transformValues(graph.weights(), Weight::name));
        List<Node> early = new ArrayList<>();
        List<Node> late = new ArrayList<>();
        for (Node node : graph.nodes()) {
            if (node.inputs().allMatch(known::containsKey)) {
                String name = node.inputs().findFirst().map(known::get).orElse("constant");
                node.results().forEach(result -> known.put(result, name));
                early.add(node);
            } else {
                late.add(node);
            }
        }
        List<Value> constants =
                Stream.concat(late.stream().flatMap(Node::inputs), graph.outputs().stream())
                        .filter(known::containsKey)
                        .filter(value -> !graph.weights().containsKey(value))
                        .distinct()
                        .toList();
        if (constants.isEmpty()) {
            return graph;
        }
        Graph part =
                new Graph(
                        ImmutableList.of(),
                        graph.weights(),
                        ImmutableList.copyOf(early),
                        ImmutableList.copyOf(constants));
        Map<Value, Weight> weights = new LinkedHashMap<>(graph.weights());
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            NDList results = GraphScript.run(part, List.of(), manager);
            for (int i = 0; i < constants.size(); i++) {
                Tensor tensor = tensor(results.get(i), constants.get(i).type());
                weights.put(constants.get(i), new Weight(known.get(constants.get(i)), tensor));
            }
        }
        return graph.with(weights, late);
    }

    /** Copies an array; converts bfloat16, which DJL does not support, through float32. */
    private static Tensor tensor(NDArray array, String type) {
        return type.equals("BFloat16")
                ? Tensor.of(Functional.to(array, DataType.FLOAT32)).rounded(ElementType.BFLOAT16)
                : Tensor.of(array);
    }
}
