package dev.saccade.export;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.script.Tracer.Recording;
import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.Graph.Weight;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Parses the recording of a model. */
final class Recordings {

    private final NDList constants;
    private final Map<Integer, Value> values = new HashMap<>();
    private final Map<Integer, Value> baked = new HashMap<>();
    private final List<Value> inputs = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();
    private final List<Value> outputs = new ArrayList<>();

    private Recordings(NDList constants) {
        this.constants = constants;
    }

    /**
     * Returns the graph of a recording.
     *
     * @param parameters names and values of the last inputs, which become weights
     */
    static Graph graph(Recording recording, Map<String, Tensor> parameters) {
        Recordings read = new Recordings(recording.constants());
        try (JsonParser json = new JsonFactory().createParser(recording.json())) {
            json.nextToken();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                read.field(json);
            }
        } catch (IOException e) {
            throw SaccadeException.internal(e, "the recording cannot be read");
        }
        return read.graph(parameters);
    }

    private Graph graph(Map<String, Tensor> parameters) {
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
        return new Graph(
                ImmutableList.copyOf(inputs.subList(0, given)),
                weights.buildOrThrow(),
                ImmutableList.copyOf(nodes),
                ImmutableList.copyOf(outputs));
    }

    private void field(JsonParser json) throws IOException {
        String name = json.currentName();
        json.nextToken();
        switch (name) {
            case "inputs" -> inputs.addAll(defined(json));
            case "nodes" -> {
                while (json.nextToken() == JsonToken.START_OBJECT) {
                    nodes.add(node(json));
                }
            }
            default ->
                    arguments(json).forEach(output -> outputs.add(((Argument.Of) output).value()));
        }
    }

    private Node node(JsonParser json) throws IOException {
        String operator = "";
        ImmutableList<Argument> arguments = ImmutableList.of();
        ImmutableMap.Builder<String, Argument> keywords = ImmutableMap.builder();
        List<Value> results = List.of();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = json.currentName();
            json.nextToken();
            switch (name) {
                case "op" -> operator = json.getText();
                case "args" -> arguments = arguments(json);
                case "keywords" -> {
                    while (json.nextToken() == JsonToken.FIELD_NAME) {
                        String key = json.currentName();
                        json.nextToken();
                        keywords.put(key, argument(json));
                    }
                }
                default -> results = defined(json);
            }
        }
        return new Node(
                operator, arguments, keywords.buildOrThrow(), ImmutableList.copyOf(results));
    }

    private List<Value> defined(JsonParser json) throws IOException {
        List<Value> read = new ArrayList<>();
        while (json.nextToken() == JsonToken.START_ARRAY) {
            json.nextToken();
            int id = json.getIntValue();
            String type = "";
            ImmutableList.Builder<Long> sizes = ImmutableList.builder();
            if (json.nextToken() == JsonToken.VALUE_STRING) {
                type = json.getText();
                json.nextToken();
                while (json.nextToken() != JsonToken.END_ARRAY) {
                    sizes.add(json.getLongValue());
                }
                json.nextToken();
            }
            Value value = new Value(id, type, sizes.build());
            values.put(id, value);
            read.add(value);
        }
        return read;
    }

    private ImmutableList<Argument> arguments(JsonParser json) throws IOException {
        ImmutableList.Builder<Argument> read = ImmutableList.builder();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            read.add(argument(json));
        }
        return read.build();
    }

    private Argument argument(JsonParser json) throws IOException {
        return switch (json.currentToken()) {
            case START_ARRAY -> new Argument.Items(arguments(json));
            case START_OBJECT -> reference(json);
            case VALUE_NUMBER_INT -> new Argument.Literal(json.getLongValue());
            case VALUE_NUMBER_FLOAT -> new Argument.Literal(json.getDoubleValue());
            case VALUE_TRUE, VALUE_FALSE -> new Argument.Literal(json.getBooleanValue());
            case VALUE_NULL -> new Argument.Literal(null);
            default -> new Argument.Literal(text(json.getText()));
        };
    }

    /** Returns a text, or the number that JSON has none for. */
    private static Object text(String text) {
        return switch (text) {
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            case "nan" -> Double.NaN;
            default -> text;
        };
    }

    private Argument reference(JsonParser json) throws IOException {
        json.nextToken();
        boolean isConstant = json.currentName().equals("t");
        json.nextToken();
        int index = json.getIntValue();
        json.nextToken();
        return new Argument.Of(isConstant ? constant(index) : values.get(index));
    }

    private Value constant(int index) {
        return baked.computeIfAbsent(
                index,
                // Values of the graph count from 0.
                k -> Value.of(-1 - k, typeName(constants.get(k)), constants.get(k).getShape()));
    }

    private static String typeName(NDArray array) {
        return switch (array.getDataType()) {
            case FLOAT32 -> "Float";
            case FLOAT64 -> "Double";
            case FLOAT16 -> "Half";
            case INT64 -> "Long";
            case INT32 -> "Int";
            case BOOLEAN -> "Bool";
            case UINT8 -> "Byte";
            default ->
                    throw SaccadeException.user(
                            "a constant of type %s cannot be exported", array.getDataType());
        };
    }
}
