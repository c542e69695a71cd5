package dev.saccade.export;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.ResourceLines;
import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Writes a graph as the lines of a TorchScript function. */
final class TorchScriptCode {

    private static final String ATEN = "aten::";
    private static final String UNPACK = "prim::ListUnpack";
    private static final String OURS = "saccade::";

    private final Graph graph;

    /** Names of inputs and weights. */
    private final Map<Value, String> names;

    TorchScriptCode(Graph graph, Map<Value, String> given) {
        this.graph = graph;
        this.names = ImmutableMap.copyOf(given);
    }

    /** Rejects operators that neither libtorch nor {@link #functions} has; names the first one. */
    static void require(Graph graph) {
        for (Node node : graph.nodes()) {
            boolean isKnown = node.name().startsWith(ATEN) || node.operator().equals(UNPACK);
            if (!isKnown && !isCustom(node)) {
                throw SaccadeException.user("%s: libtorch has no such operator", node.operator());
            }
        }
    }

    private static boolean isCustom(Node node) {
        return node.name().equals(Graph.NMS) || node.name().equals(Graph.ROI_ALIGN);
    }

    /** Returns the function body; {@code open} and {@code close} enclose the returned outputs. */
    String body(String open, String close) {
        List<String> lines = new ArrayList<>();
        for (Node node : graph.nodes()) {
            String results = joined(node.results(), this::name);
            if (node.operator().equals(UNPACK)) {
                lines.add(results + ", = " + name(node.value(0)));
            } else {
                boolean isPair = node.name().equals(Graph.NMS);
                lines.add(results + (isPair ? ", = " : " = ") + call(node));
            }
        }
        lines.add("return " + open + joined(graph.outputs(), this::name) + close);
        return String.join("\n", lines) + "\n";
    }

    private String name(Value value) {
        return names.getOrDefault(value, "v" + value.id());
    }

    private String call(Node node) {
        if (isCustom(node)) {
            String name = node.name().substring(OURS.length());
            return "(self)." + name + "(" + joined(node.arguments(), this::text) + ")";
        }
        List<String> given = new ArrayList<>();
        node.arguments().forEach(argument -> given.add(text(argument)));
        node.keywords()
                .forEach((name, argument) -> given.add(name + "=" + keyword(name, argument)));
        String name = node.name().substring(ATEN.length());
        return "torch." + name + "(" + String.join(", ", given) + ")";
    }

    private static <T> String joined(List<T> items, Function<T, String> text) {
        return items.stream().map(text).collect(Collectors.joining(", "));
    }

    /** Returns the code of a keyword argument; a device becomes the device of the first input. */
    private String keyword(String name, Argument argument) {
        boolean isDevice = name.equals("device") && !argument.equals(new Argument.Literal(null));
        return isDevice ? name(graph.inputs().get(0)) + ".device" : text(argument);
    }

    private String text(Argument argument) {
        if (argument instanceof Argument.TensorRef of) {
            return name(of.value());
        } else if (argument instanceof Argument.Items list) {
            return "[" + joined(list.items(), this::text) + "]";
        } else if (argument instanceof Argument.Size size) {
            return text(size.expression());
        }
        return literal(((Argument.Literal) argument).value());
    }

    private static String literal(Object value) {
        if (value == null) {
            return "None";
        } else if (value instanceof Boolean flag) {
            return flag ? "True" : "False";
        } else if (value instanceof String text) {
            return '"' + text + '"';
        } else if (value instanceof Double number && !Double.isFinite(number)) {
            return number.isNaN() ? "float('nan')" : number > 0 ? "float('inf')" : "float('-inf')";
        }
        return value.toString();
    }

    private String text(SizeExpression expression) {
        String product =
                expression.sizes().stream()
                        .map(
                                size ->
                                        Text.format(
                                                "torch.size(%s, %d)",
                                                name(size.value()), size.axis()))
                        .collect(Collectors.joining(" * "));
        String sum =
                Text.format("%s * %d + %d", product, expression.factor(), expression.summand());
        return expression.divisor() == 1
                ? sum
                : Text.format(
                        "torch.%s(%s, %d)",
                        expression.isRemainder() ? "remainder" : "floordiv",
                        sum,
                        expression.divisor());
    }

    /** Returns TorchScript functions for operators of the graph that libtorch lacks. */
    static String functions(Graph graph) {
        return graph.nodes().stream()
                .filter(TorchScriptCode::isCustom)
                .map(node -> node.name().substring(OURS.length()) + ".py")
                .distinct()
                .flatMap(file -> ResourceLines.read(TorchScriptCode.class, file).stream())
                .map(line -> line + "\n")
                .collect(Collectors.joining());
    }
}
