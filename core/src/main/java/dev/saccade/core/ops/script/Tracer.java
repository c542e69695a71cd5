package dev.saccade.core.ops.script;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ThreadLocals;
import dev.saccade.core.ops.memory.NoGrad;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Records the operators of libtorch that a thread runs, by libtorch's own tracer: what leaves
 * Saccade as a graph is what it computes itself, scripts and parts of others included.
 *
 * <p>Numbers that Java or a script computes, such as sizes, are constants of a recording. Operators
 * of {@code ops.saccade} are recorded as they are; {@link OperatorLibrary#callPortable} avoids
 * most. The recorder itself is one, so there must be {@link Kernels}.
 */
public final class Tracer {

    private static final ThreadLocal<Boolean> RECORDING = ThreadLocal.withInitial(() -> false);

    private Tracer() {}

    private static final ScriptTemplate BEGIN =
            ScriptTemplate.of(
                    "(inputs: List[Tensor]) -> Tensor",
                    "return ops.saccade.trace_begin(inputs[0], inputs)");

    private static final ScriptTemplate END =
            ScriptTemplate.of(
                    "(outputs: List[Tensor]) -> List[Tensor]",
                    "return ops.saccade.trace_end(outputs)");

    /**
     * What was recorded.
     *
     * @param json {@code {"inputs": values, "nodes": [...], "outputs": arguments}}: a node is
     *     {@code {"op": "aten::add.Tensor", "args": arguments, "keywords": {"alpha": 1}, "outs":
     *     values}}; a value is {@code [K, "Float", sizes]}, of tensors, or {@code [K]}; an argument
     *     is a number, text, a list, null, {@code {"v": K}} for value K or {@code {"t": K}} for the
     *     K-th constant
     * @param constants what was there before and is no input
     */
    public record Recording(String json, NDList constants) {}

    /**
     * Returns whether this thread records: then the same operators must run at all sizes, whatever
     * would be left out at this one.
     */
    public static boolean isRecording() {
        return RECORDING.get();
    }

    /**
     * Records what {@code body} runs, without gradients.
     *
     * @param inputs what the recording names by their positions; all have different names in it
     * @param body returns the outputs
     */
    public static Recording record(List<NDArray> inputs, Supplier<List<NDArray>> body) {
        return NoGrad.call(
                () -> {
                    BEGIN.with(Map.of()).runLists(List.of(inputs));
                    List<NDArray> outputs = List.of(inputs.get(0));
                    NDList recorded;
                    try {
                        outputs = ThreadLocals.call(RECORDING, true, body);
                    } finally {
                        recorded = END.with(Map.of()).runLists(List.of(outputs));
                    }
                    return recording(recorded);
                });
    }

    private static Recording recording(NDList told) {
        String json = new String(told.get(0).toByteArray(), StandardCharsets.US_ASCII);
        return new Recording(json, told.subNDList(1));
    }
}
