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
 * Records the libtorch operators that a thread runs, with libtorch's tracer, including scripts and
 * custom components.
 *
 * <p>Values that Java or a script computes, such as sizes, become constants. Operators of {@code
 * ops.saccade} are recorded as such; use {@link OperatorLibrary#callPortable} to avoid most of
 * them. Requires {@link Kernels}, which contain the tracer.
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
     * A recorded graph.
     *
     * @param json {@code {"inputs": values, "nodes": [...], "outputs": arguments}}: a node is
     *     {@code {"op": "aten::add.Tensor", "args": arguments, "keywords": {"alpha": 1}, "outs":
     *     values}}; a value is {@code [K, "Float", sizes]} for tensors, else {@code [K]}; an
     *     argument is a number, text, list, null, {@code {"v": K}} for value K or {@code {"t": K}}
     *     for constant K
     * @param constants arrays used by the graph that are not inputs
     */
    public record Recording(String json, NDList constants) {}

    /** Returns whether this thread is recorded. If so, do not skip operators because of a size. */
    public static boolean isRecording() {
        return RECORDING.get();
    }

    /** Records the operators of {@code body}, which returns the outputs, without gradients. */
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

    private static Recording recording(NDList results) {
        String json = new String(results.get(0).toByteArray(), StandardCharsets.US_ASCII);
        return new Recording(json, results.subNDList(1));
    }
}
