package dev.saccade.serve;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Ints;

import dev.saccade.core.Json;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * A request of the Open Inference Protocol (V2) with the binary tensor extension.
 *
 * @param score requested minimum score, as in the query of {@code /predict}; null for the default
 * @param outputs requested outputs; empty for all
 */
record InferRequest(
        String id,
        String score,
        List<Upload> images,
        List<RequestedOutput> outputs,
        boolean binaryByDefault) {

    /** Header with the length of the JSON, if binary data follows. */
    static final String JSON_LENGTH = "Inference-Header-Content-Length";

    static final String BINARY_SIZE = "binary_data_size";

    private static final String SCORE = "score";
    private static final String BINARY_OUTPUT = "binary_data_output";

    private static final int MAX_OUTPUTS = 100;
    private static final int MAX_PARAMETERS = 100;

    /** An output to return; {@code binary} is null if the request does not state it. */
    record RequestedOutput(String name, Boolean binary) {}

    /** Parses a body; {@code jsonLength} is the header, or null. */
    static InferRequest parse(byte[] body, String jsonLength, ServerLimits limits) {
        int length = jsonLength == null ? body.length : length(jsonLength, body.length);
        Fields fields = new Fields(limits);
        try (JsonParser json = Json.parser(new ByteArrayInputStream(body, 0, length))) {
            fields.read(json);
        } catch (JsonProcessingException e) {
            throw Problem.badRequest("the body is not valid JSON: %s", e.getOriginalMessage());
        } catch (IOException e) {
            throw Problem.badRequest("the body is not valid JSON: %s", e.getMessage());
        }
        return fields.request(ByteBuffer.wrap(body, length, body.length - length));
    }

    private static int length(String header, int body) {
        Integer length = Ints.tryParse(header);
        if (length == null || length < 0 || length > body) {
            throw Problem.badRequest(
                    "%s: got %s, expected the length of the JSON, at most the %d bytes of the"
                            + " body",
                    JSON_LENGTH, header, body);
        }
        return length;
    }

    static Problem.HttpException unknown(String key) {
        return Problem.badRequest("%s: not supported; remove it", key);
    }

    static void requireObject(JsonParser json, String key) {
        if (!json.isExpectedStartObjectToken()) {
            throw Problem.badRequest("%s: expected a JSON object", key);
        }
    }

    static String text(JsonParser json, String key) throws IOException {
        if (json.currentToken() != JsonToken.VALUE_STRING) {
            throw Problem.badRequest("%s: expected text", key);
        }
        return json.getText();
    }

    /** Reads parameters; values are a Long, Double, Boolean or String. */
    static Map<String, Object> readParameters(JsonParser json) throws IOException {
        Map<String, Object> parameters = new LinkedHashMap<>();
        requireObject(json, "parameters");
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            JsonToken token = json.nextToken();
            if (parameters.size() == MAX_PARAMETERS) {
                throw Problem.badRequest(
                        "parameters: got more than %d; remove some", MAX_PARAMETERS);
            }
            OptionalLong integer = Json.integer(json);
            if (integer.isPresent()) {
                parameters.put(key, integer.getAsLong());
            } else if (token.isNumeric()) {
                parameters.put(key, json.getDoubleValue());
            } else if (token.isBoolean()) {
                parameters.put(key, json.getBooleanValue());
            } else {
                parameters.put(key, text(json, "parameters." + key));
            }
        }
        return parameters;
    }

    private static final class Fields {

        private final ServerLimits limits;
        private String id = "";
        private Map<String, Object> parameters = Map.of();
        private final List<InferTensor> inputs = new ArrayList<>();
        private final Map<String, RequestedOutput> outputs = new LinkedHashMap<>();

        Fields(ServerLimits limits) {
            this.limits = limits;
        }

        void read(JsonParser json) throws IOException {
            json.nextToken();
            requireObject(json, "body");
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String key = json.currentName();
                json.nextToken();
                switch (key) {
                    case "id" -> id = text(json, key);
                    case "parameters" -> parameters = readParameters(json);
                    case "inputs" -> readInputs(json);
                    case "outputs" -> readOutputs(json);
                    default -> throw unknown(key);
                }
            }
            if (json.nextToken() != null) {
                throw Problem.badRequest("the body has text after the JSON object");
            }
        }

        private void readInputs(JsonParser json) throws IOException {
            requireArray(json, "inputs");
            while (json.nextToken() != JsonToken.END_ARRAY) {
                inputs.add(InferTensor.read(json, limits.queue()));
                requireOne();
            }
        }

        private void requireOne() {
            if (inputs.size() != 1) {
                throw Problem.badRequest(
                        "inputs: got %s, expected one tensor, %s",
                        inputs.isEmpty() ? "none" : inputs, InferTensor.NAME);
            }
        }

        private void readOutputs(JsonParser json) throws IOException {
            requireArray(json, "outputs");
            while (json.nextToken() != JsonToken.END_ARRAY) {
                RequestedOutput output = readOutput(json);
                if (outputs.put(output.name(), output) != null || outputs.size() > MAX_OUTPUTS) {
                    throw Problem.badRequest(
                            "outputs: got %s twice or more than %d outputs, expected each output"
                                    + " once",
                            output.name(), MAX_OUTPUTS);
                }
            }
        }

        private static RequestedOutput readOutput(JsonParser json) throws IOException {
            String name = "";
            Boolean binary = null;
            requireObject(json, "outputs");
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String key = json.currentName();
                json.nextToken();
                switch (key) {
                    case "name" -> name = text(json, "outputs.name");
                    case "parameters" -> binary = binary(readParameters(json), "binary_data");
                    default -> throw unknown("outputs." + key);
                }
            }
            return new RequestedOutput(name, binary);
        }

        private static void requireArray(JsonParser json, String key) {
            if (!json.isExpectedStartArrayToken()) {
                throw Problem.badRequest("%s: expected a list of tensors", key);
            }
        }

        /** Returns the only parameter {@code key}, or null if it is missing. */
        private static Boolean binary(Map<String, Object> parameters, String key) {
            for (Map.Entry<String, Object> parameter : parameters.entrySet()) {
                if (!parameter.getKey().equals(key)) {
                    throw unknown("parameters." + parameter.getKey());
                }
                if (!(parameter.getValue() instanceof Boolean)) {
                    throw Problem.badRequest(
                            "parameters.%s: got %s, expected true or false",
                            key, parameter.getValue());
                }
            }
            return (Boolean) parameters.get(key);
        }

        InferRequest request(ByteBuffer binary) {
            requireOne();
            Map<String, Object> others = new LinkedHashMap<>(parameters);
            Object score = others.remove(SCORE);
            Boolean binaryOutput = binary(others, BINARY_OUTPUT);
            return new InferRequest(
                    id,
                    score == null ? null : score.toString(),
                    inputs.get(0).images(binary, limits),
                    ImmutableList.copyOf(outputs.values()),
                    Boolean.TRUE.equals(binaryOutput));
        }
    }
}
