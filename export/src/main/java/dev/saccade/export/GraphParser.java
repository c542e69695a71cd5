package dev.saccade.export;

import static com.google.common.collect.ImmutableList.toImmutableList;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Streams;

import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.script.Tracer.Recording;
import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.Graph.Weight;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** Parses the JSON of a recording, described in {@code trace_op.cpp}. */
final class GraphParser {

    private final NDList constants;

    /** Values by their number in the recording; their {@link Value#id} is the execution order. */
    private final Map<Integer, Value> values = new HashMap<>();

    private final Map<Integer, Value> baked = new HashMap<>();

    private GraphParser(NDList constants) {
        this.constants = constants;
    }

    /** Parses a recording. Its last inputs are the parameters, which become weights. */
    static Graph graph(Recording recording, Map<String, Tensor> parameters) {
        try {
            JsonNode json = new ObjectMapper().readTree(recording.json());
            return new GraphParser(recording.constants()).graph(json, parameters);
        } catch (JsonProcessingException e) {
            throw SaccadeException.internal(e, "the recording cannot be read");
        }
    }

    private Graph graph(JsonNode json, Map<String, Tensor> parameters) {
        ImmutableList<Value> inputs = list(json.get("inputs"), this::value);
        ImmutableList<Node> nodes = list(json.get("nodes"), this::node);
        ImmutableList<Value> outputs =
                list(
                        json.get("outputs"),
                        output -> ((Argument.TensorRef) argument(output)).value());
        int given = inputs.size() - parameters.size();
        ImmutableMap.Builder<Value, Weight> weights = ImmutableMap.builder();
        int k = given;
        for (Map.Entry<String, Tensor> parameter : parameters.entrySet()) {
            weights.put(inputs.get(k++), new Weight(parameter.getKey(), parameter.getValue()));
        }
        baked.forEach(
                (index, value) ->
                        weights.put(
                                value,
                                new Weight("constant_" + index, Tensor.of(constants.get(index)))));
        return new Graph(inputs.subList(0, given), weights.buildOrThrow(), nodes, outputs);
    }

    private static <T> ImmutableList<T> list(JsonNode array, Function<JsonNode, T> item) {
        return Streams.stream(array).map(item).collect(toImmutableList());
    }

    private Node node(JsonNode json) {
        ImmutableMap.Builder<String, Argument> keywords = ImmutableMap.builder();
        for (Map.Entry<String, JsonNode> each : json.path("keywords").properties()) {
            keywords.put(each.getKey(), argument(each.getValue()));
        }
        return new Node(
                json.get("op").textValue(),
                list(json.get("args"), this::argument),
                keywords.buildOrThrow(),
                list(json.get("outs"), this::value));
    }

    private Value value(JsonNode json) {
        Value value =
                new Value(
                        values.size(),
                        json.path(1).asText(),
                        list(json.path(2), JsonNode::longValue));
        values.put(json.get(0).intValue(), value);
        return value;
    }

    private Argument argument(JsonNode json) {
        return switch (json.getNodeType()) {
            case ARRAY -> new Argument.Items(list(json, this::argument));
            case OBJECT ->
                    new Argument.TensorRef(
                            json.has("t")
                                    ? constant(json.get("t").intValue())
                                    : values.get(json.get("v").intValue()));
            case NUMBER ->
                    new Argument.Literal(
                            json.isIntegralNumber()
                                    ? (Object) json.longValue()
                                    : (Object) json.doubleValue());
            case BOOLEAN -> new Argument.Literal(json.booleanValue());
            case NULL -> new Argument.Literal(null);
            default -> new Argument.Literal(text(json.textValue()));
        };
    }

    private static Object text(String text) {
        return switch (text) {
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            case "nan" -> Double.NaN;
            default -> text;
        };
    }

    private Value constant(int index) {
        return baked.computeIfAbsent(
                index,
                k -> {
                    NDArray array = constants.get(k);
                    String type = ElementType.of(array.getDataType()).torchName();
                    // The ids of other values count up from 0.
                    return Value.of(-1 - k, type, array.getShape());
                });
    }
}
