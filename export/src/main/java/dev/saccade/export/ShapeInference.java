package dev.saccade.export;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Lists;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.Graph.Weight;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Merges recordings of a model at several sizes into one graph for all sizes.
 *
 * <p>All recordings must have the same operators. Numbers that differ are expressed by sizes of
 * earlier tensors, see {@link SymbolicShape}. The inferred rules may not hold for other sizes, so
 * compare the result with the model at other sizes.
 */
final class ShapeInference {

    private static final Argument OPEN = new Argument.Literal(-1L);

    private final List<Graph> graphs;
    private final SymbolicShape shapes;

    /** Merged values; they have the same id in each graph. */
    private final Map<Value, Value> merged = new HashMap<>();

    private ShapeInference(List<Graph> graphs) {
        this.graphs = graphs;
        this.shapes = new SymbolicShape(graphs.size());
    }

    /** Merges recordings; fails if their operators differ. Sizes must not have a common ratio. */
    static Graph of(List<Graph> graphs) {
        return new ShapeInference(graphs).merge();
    }

    private Graph merge() {
        Graph first = graphs.get(0);
        ImmutableList<Value> inputs =
                indexed(first.inputs(), i -> define(each(graph -> graph.inputs().get(i))));
        graphs.forEach(this::requireSameWeights);
        ImmutableList<Node> nodes = indexed(first.nodes(), this::node);
        requireSame(each(graph -> graph.nodes().size()), "number of operators");
        return new Graph(
                inputs,
                first.weights(),
                nodes,
                ImmutableList.copyOf(Lists.transform(first.outputs(), merged::get)));
    }

    private static <T> ImmutableList<T> indexed(List<?> list, IntFunction<T> function) {
        return IntStream.range(0, list.size())
                .mapToObj(function)
                .collect(ImmutableList.toImmutableList());
    }

    private void requireSameWeights(Graph graph) {
        graph.weights()
                .forEach(
                        (value, weight) -> {
                            Weight expected = graphs.get(0).weights().get(value);
                            if (expected == null || !expected.tensor().equals(weight.tensor())) {
                                throw SaccadeException.user(
                                                "%s: the constant depends on the image size: %s or"
                                                        + " %s; export with a fixed size",
                                                weight.name(),
                                                weight.tensor(),
                                                expected == null ? "none" : expected.tensor())
                                        .withSettings("size");
                            }
                        });
    }

    private <T> List<T> each(Function<Graph, T> part) {
        return graphs.stream().map(part).toList();
    }

    private static <S, T> List<T> all(List<S> items, Function<S, T> part) {
        return items.stream().map(part).toList();
    }

    private Value define(List<Value> each) {
        Value first = each.get(0);
        ImmutableList<Long> sizes =
                indexed(
                        first.sizes(),
                        axis ->
                                isSame(all(each, value -> value.sizes().get(axis)))
                                        ? first.sizes().get(axis)
                                        : -1L);
        Value value = new Value(first.id(), first.type(), sizes);
        merged.put(value, value);
        shapes.define(value, all(each, Value::sizes));
        return value;
    }

    private Node node(int index) {
        List<Node> same =
                each(graph -> graph.nodes().get(index < graph.nodes().size() ? index : 0));
        Node first = same.get(0);
        String place = Text.format("operator %d, %s", index, first.operator());
        requireSame(all(same, Node::operator), place);
        List<List<Value>> inputs = all(same, node -> node.inputs().toList());
        List<List<Value>> near = indexed(inputs.get(0), v -> all(inputs, values -> values.get(v)));
        ImmutableList<Argument> arguments =
                indexed(
                        first.arguments(),
                        a -> {
                            List<Argument> given = all(same, node -> node.arguments().get(a));
                            return isShape(first, a)
                                    ? shape(given, near, place)
                                    : argument(given, near, place);
                        });
        ImmutableMap.Builder<String, Argument> keywords = ImmutableMap.builder();
        for (String name : first.keywords().keySet()) {
            List<Argument> given = all(same, node -> node.keywords().get(name));
            keywords.put(name, argument(given, near, place));
        }
        ImmutableList<Value> results =
                indexed(first.results(), r -> define(all(same, node -> node.results().get(r))));
        return new Node(first.operator(), arguments, keywords.buildOrThrow(), results);
    }

    private static boolean isShape(Node node, int place) {
        return place == 1
                && (node.name().equals("aten::reshape") || node.name().equals("aten::view"));
    }

    /** Merges the shapes given to a reshape; the only size that differs, if any, becomes -1. */
    private Argument shape(List<Argument> given, List<List<Value>> near, String place) {
        List<ImmutableList<Argument>> lists = items(given, place);
        List<Argument> shape = new ArrayList<>(lists.get(0));
        int[] varying =
                IntStream.range(0, shape.size())
                        .filter(axis -> !isSame(all(lists, list -> list.get(axis))))
                        .toArray();
        if (varying.length != 1 || shape.contains(OPEN)) {
            return argument(given, near, place);
        }
        shape.set(varying[0], OPEN);
        return new Argument.Items(ImmutableList.copyOf(shape));
    }

    private List<ImmutableList<Argument>> items(List<Argument> given, String place) {
        List<ImmutableList<Argument>> lists =
                all(given, argument -> ((Argument.Items) argument).items());
        requireSame(all(lists, List::size), place);
        return lists;
    }

    private Argument argument(List<Argument> given, List<List<Value>> near, String place) {
        Argument first = given.get(0);
        requireSame(all(given, Argument::getClass), place);
        if (first instanceof Argument.Items list) {
            List<ImmutableList<Argument>> lists = items(given, place);
            return new Argument.Items(
                    indexed(
                            list.items(),
                            i -> argument(all(lists, each -> each.get(i)), near, place)));
        } else if (isSame(given)) {
            return first.map(value -> merged.getOrDefault(value, value));
        }
        List<Object> literals =
                all(given, each -> each instanceof Argument.Literal one ? one.value() : each);
        if (!literals.stream().allMatch(Long.class::isInstance)) {
            throw difference(literals, place);
        }
        ImmutableLongArray numbers =
                ImmutableLongArray.copyOf(literals.stream().mapToLong(Long.class::cast));
        return shapes.find(numbers, near)
                .map(Argument.Size::new)
                .orElseThrow(() -> difference(literals, place));
    }

    private static boolean isSame(List<?> list) {
        return list.stream().distinct().count() <= 1;
    }

    private void requireSame(List<?> given, String place) {
        if (!isSame(given)) {
            throw difference(given, place);
        }
    }

    private SaccadeException difference(List<?> given, String place) {
        return SaccadeException.user(
                        "%s: differs between image sizes: %s at %s; export with a fixed size",
                        place, given, each(graph -> graph.inputs().get(0).sizes()))
                .withSettings("size");
    }
}
