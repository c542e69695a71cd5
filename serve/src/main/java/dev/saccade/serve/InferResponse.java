package dev.saccade.serve;

import dev.saccade.serve.InferRequest.RequestedOutput;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;

/** A response of the Open Inference Protocol; {@code jsonLength} is empty without binary data. */
@SuppressWarnings("ArrayRecordComponent")
record InferResponse(byte[] body, Optional<Integer> jsonLength) {

    /** Maximum values of a JSON response, to limit its memory. */
    private static final int MAX_JSON_VALUES = 4_000_000;

    /**
     * Creates a response; {@code header} has the fields before the outputs, and {@code reserve}
     * receives the length of binary data before it is allocated.
     */
    static InferResponse of(
            InferRequest request,
            Map<String, Object> header,
            List<OutputTensor> outputs,
            IntConsumer reserve) {
        List<Map<String, Object>> described = new ArrayList<>();
        List<OutputTensor> binary = new ArrayList<>();
        int length = 0;
        for (RequestedOutput requested : requested(request, outputs)) {
            OutputTensor output =
                    outputs.stream()
                            .filter(each -> each.name().equals(requested.name()))
                            .findFirst()
                            .orElseThrow();
            Map<String, Object> entry = new LinkedHashMap<>(InferOutputs.metadata(output));
            if (Optional.ofNullable(requested.binary()).orElse(request.binaryByDefault())) {
                binary.add(output);
                length = Math.addExact(length, output.byteLength());
                entry.put("parameters", Map.of(InferRequest.BINARY_SIZE, output.byteLength()));
            } else {
                requireFewValues(output);
                entry.put("data", output.values());
            }
            described.add(entry);
        }
        Map<String, Object> json = new LinkedHashMap<>(header);
        if (!request.id().isEmpty()) {
            json.put("id", request.id());
        }
        json.put("outputs", described);
        byte[] start = JsonBody.bytes(json);
        if (binary.isEmpty()) {
            return new InferResponse(start, Optional.empty());
        }
        reserve.accept(length);
        ByteBuffer body =
                ByteBuffer.allocate(Math.addExact(start.length, length))
                        .order(ByteOrder.LITTLE_ENDIAN);
        body.put(start);
        binary.forEach(output -> output.write(body));
        return new InferResponse(body.array(), Optional.of(start.length));
    }

    /** Rejects outputs that the model does not have. */
    static void requireKnown(InferRequest request, List<OutputTensor> outputs) {
        List<String> known = outputs.stream().map(OutputTensor::name).toList();
        for (RequestedOutput output : request.outputs()) {
            if (!known.contains(output.name())) {
                throw Problem.badRequest(
                        "outputs.name: got %s, expected one of %s",
                        output.name(), String.join(", ", known));
            }
        }
    }

    private static List<RequestedOutput> requested(
            InferRequest request, List<OutputTensor> outputs) {
        return request.outputs().isEmpty()
                ? outputs.stream().map(each -> new RequestedOutput(each.name(), null)).toList()
                : request.outputs();
    }

    private static void requireFewValues(OutputTensor output) {
        if (output.values().size() > MAX_JSON_VALUES) {
            throw Problem.badRequest(
                    "outputs: %s has %d values, but JSON is limited to %d; set"
                            + " parameters.binary_data_output to true",
                    output.name(), output.values().size(), MAX_JSON_VALUES);
        }
    }
}
