package dev.saccade.examples.parts;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.script.OperatorLibrary;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/** {@code x sigmoid(beta x)}: a fused operator, and what it is composed of where it cannot run. */
final class Swish {

    /** Would be of this jar; here it is Saccade's, and libtorch itself has the operator. */
    static final OperatorLibrary LIBRARY =
            new OperatorLibrary(
                    OperatorLibrary.class,
                    "saccade",
                    () -> Script.evaluate("ops.saccade.instruction_set()") + " bits");

    /** Compiled when it is first run: without the library there is no such operator. */
    private static final ScriptTemplate FUSED =
            ScriptTemplate.of("(x: Tensor) -> Tensor", "return ops.aten.silu(x * {beta}) / {beta}");

    private static final ScriptTemplate PORTABLE =
            ScriptTemplate.of("(x: Tensor) -> Tensor", "return x * torch.sigmoid(x * {beta})");

    private Swish() {}

    static NDArray activate(NDArray x, double beta) {
        return (LIBRARY.isOn() ? FUSED : PORTABLE).with(Map.of("beta", beta)).run(x);
    }
}
