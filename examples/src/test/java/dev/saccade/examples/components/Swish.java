package dev.saccade.examples.components;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.script.OperatorLibrary;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/** {@code x sigmoid(beta x)}: a fused operator with a portable fallback. */
final class Swish {

    /** A real component has its own library; this one uses Saccade's. */
    static final OperatorLibrary LIBRARY =
            new OperatorLibrary(
                    OperatorLibrary.class,
                    "saccade",
                    () -> Script.evaluate("ops.saccade.instruction_set()") + " bits");

    /** Compiled at first use, because the operator may be missing. */
    private static final ScriptTemplate FUSED =
            ScriptTemplate.of("(x: Tensor) -> Tensor", "return ops.aten.silu(x * {beta}) / {beta}");

    private static final ScriptTemplate PORTABLE =
            ScriptTemplate.of("(x: Tensor) -> Tensor", "return x * torch.sigmoid(x * {beta})");

    private Swish() {}

    static NDArray activate(NDArray x, double beta) {
        return (LIBRARY.isOn() ? FUSED : PORTABLE).with(Map.of("beta", beta)).run(x);
    }
}
