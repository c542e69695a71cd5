package dev.saccade.export;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.Graph.Weight;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Makes of recordings of a model at several sizes the one graph for all sizes.
 *
 * <p>Operators must be the same in all; of numbers that differ it is found how they follow from the
 * sizes of tensors before them, see {@link Extents}. That is a conclusion from examples, so what is
 * made is to be held against the model at other sizes.
 */
final class Generalization {

    private final List<Graph> graphs;
    private final Extents extents;

    /** For each further graph, its values for those of the first. */
    private final List<Map<Value, Value>> others = new ArrayList<>();

    /** What the operator at hand takes, in each graph. */
    private final List<List<Value>> near = new ArrayList<>();

    private Generalization(List<Graph> graphs) {
        this.graphs = graphs;
        this.extents = new Extents(graphs.size());
        graphs.forEach(graph -> others.add(new HashMap<>()));
    }

    /**
     * Returns the graph.
     *
     * @param graphs of the same model, at sizes of which no two have much in common
     * @throws SaccadeException of kind user, if they are not alike
     */
    static Graph of(List<Graph> graphs) {
        return graphs.size() == 1 ? graphs.get(0) : new Generalization(graphs).general();
    }

    private Graph general() {
        Graph first = graphs.get(0);
        List<Value> inputs = new ArrayList<>();
        for (int i = 0; i < first.inputs().size(); i++) {
            int k = i;
            inputs.add(define(each(graph -> graph.inputs().get(k))));
        }
        weights();
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < first.nodes().size(); i++) {
            nodes.add(node(i));
        }
        requireAlike(graphs.stream().map(graph -> graph.nodes().size()).toList(), "the end");
        return new Graph(
                ImmutableList.copyOf(inputs),
                first.weights(),
                ImmutableList.copyOf(nodes),
                ImmutableList.copyOf(first.outputs().stream().map(others.get(0)::get).toList()));
    }

    private void weights() {
        Map<String, Value> names = new LinkedHashMap<>();
        graphs.get(0).weights().forEach((value, weight) -> names.put(weight.name(), value));
        for (int g = 0; g < graphs.size(); g++) {
            Map<Value, Value> same = others.get(g);
            for (Map.Entry<Value, Weight> entry : graphs.get(g).weights().entrySet()) {
                Value first = names.get(entry.getValue().name());
                Weight weight = graphs.get(0).weights().get(first);
                if (weight == null || !weight.tensor().equals(entry.getValue().tensor())) {
                    throw SaccadeException.user(
                                    "%s: the constant depends on the image size: %s or %s; export with"
                                            + " a fixed size",
                                    entry.getValue().name(),
                                    entry.getValue().tensor(),
                                    weight == null ? "none" : weight.tensor())
                            .withSettings("size");
                }
                same.put(entry.getKey(), first);
            }
        }
    }

    private interface Part<T> {
        T of(Graph graph);
    }

    private <T> List<T> each(Part<T> part) {
        List<T> parts = new ArrayList<>();
        graphs.forEach(graph -> parts.add(part.of(graph)));
        return parts;
    }

    /** Returns the value that stands for one of each graph. */
    private Value define(List<Value> each) {
        List<ImmutableList<Long>> sizes = each.stream().map(Value::sizes).toList();
        ImmutableList.Builder<Long> general = ImmutableList.builder();
        for (int a = 0; a < sizes.get(0).size(); a++) {
            int axis = a;
            boolean varies = sizes.stream().map(of -> of.get(axis)).distinct().count() > 1;
            general.add(varies ? -1 : sizes.get(0).get(a));
        }
        Value value = new Value(each.get(0).id(), each.get(0).type(), general.build());
        for (int g = 0; g < each.size(); g++) {
            others.get(g).put(each.get(g), value);
        }
        extents.define(value, sizes);
        return value;
    }

    private Node node(int index) {
        List<Node> same = new ArrayList<>();
        for (Graph graph : graphs) {
            same.add(
                    index < graph.nodes().size() ? graph.nodes().get(index) : graph.nodes().get(0));
        }
        Node first = same.get(0);
        String place = Text.format("operator %d, %s", index, first.operator());
        requireAlike(same.stream().map(Node::operator).toList(), place);
        near.clear();
        List<List<Value>> taken = same.stream().map(node -> node.taken().toList()).toList();
        for (int v = 0; v < taken.get(0).size(); v++) {
            int k = v;
            near.add(taken.stream().map(values -> values.get(k)).toList());
        }
        ImmutableList.Builder<Argument> arguments = ImmutableList.builder();
        for (int a = 0; a < first.arguments().size(); a++) {
            int k = a;
            List<Argument> given = same.stream().map(node -> node.arguments().get(k)).toList();
            arguments.add(isShape(first, a) ? shape(given, place) : argument(given, place));
        }
        ImmutableMap.Builder<String, Argument> keywords = ImmutableMap.builder();
        first.keywords()
                .forEach(
                        (name, ignored) ->
                                keywords.put(
                                        name,
                                        argument(
                                                same.stream()
                                                        .map(node -> node.keywords().get(name))
                                                        .toList(),
                                                place)));
        ImmutableList.Builder<Value> results = ImmutableList.builder();
        for (int r = 0; r < first.results().size(); r++) {
            int k = r;
            results.add(define(same.stream().map(node -> node.results().get(k)).toList()));
        }
        return new Node(
                first.operator(), arguments.build(), keywords.buildOrThrow(), results.build());
    }

    private static boolean isShape(Node node, int place) {
        return place == 1
                && (node.name().equals("aten::reshape") || node.name().equals("aten::view"));
    }

    /** Of a shape one size may be left open. */
    private Argument shape(List<Argument> given, String place) {
        List<ImmutableList<Argument>> lists = items(given);
        int axes = lists.get(0).size();
        requireAlike(lists.stream().map(List::size).toList(), place);
        int[] varying =
                IntStream.range(0, axes)
                        .filter(a -> lists.stream().map(list -> list.get(a)).distinct().count() > 1)
                        .toArray();
        boolean isOpen = lists.get(0).contains(new Argument.Literal(-1L));
        if (varying.length != 1 || isOpen) {
            return argument(given, place);
        }
        List<Argument> shape = new ArrayList<>(lists.get(0));
        shape.set(varying[0], new Argument.Literal(-1L));
        return new Argument.Items(ImmutableList.copyOf(shape));
    }

    private static List<ImmutableList<Argument>> items(List<Argument> given) {
        return given.stream().map(argument -> ((Argument.Items) argument).items()).toList();
    }

    private Argument argument(List<Argument> given, String place) {
        Argument first = given.get(0);
        requireAlike(given.stream().map(Argument::getClass).toList(), place);
        if (first instanceof Argument.Of) {
            List<Value> values = new ArrayList<>();
            for (int g = 0; g < given.size(); g++) {
                values.add(others.get(g).get(((Argument.Of) given.get(g)).value()));
            }
            requireAlike(values, place);
            return new Argument.Of(values.get(0));
        } else if (first instanceof Argument.Items) {
            List<ImmutableList<Argument>> lists = items(given);
            requireAlike(lists.stream().map(List::size).toList(), place);
            ImmutableList.Builder<Argument> items = ImmutableList.builder();
            for (int i = 0; i < lists.get(0).size(); i++) {
                int k = i;
                items.add(argument(lists.stream().map(list -> list.get(k)).toList(), place));
            }
            return new Argument.Items(items.build());
        }
        List<Object> literals =
                given.stream().map(argument -> ((Argument.Literal) argument).value()).toList();
        if (literals.stream().distinct().count() == 1) {
            return first;
        }
        if (!literals.stream().allMatch(literal -> literal instanceof Long)) {
            throw unlike(literals, place);
        }
        long[] numbers = literals.stream().mapToLong(literal -> (Long) literal).toArray();
        return extents.find(numbers, near)
                .map(extent -> (Argument) new Argument.Size(extent))
                .orElseThrow(() -> unlike(literals, place));
    }

    private void requireAlike(List<?> given, String place) {
        if (given.stream().distinct().count() > 1) {
            throw unlike(given, place);
        }
    }

    private SaccadeException unlike(List<?> given, String place) {
        return SaccadeException.user(
                        "%s: differs between image sizes: %s at %s; export with a fixed size",
                        place, given, each(graph -> graph.inputs().get(0).sizes()))
                .withSettings("size");
    }
}
