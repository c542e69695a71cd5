package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/**
 * Activations; those of ReLU overwrite their input, which spares a buffer the size of a feature map
 * and is only for inputs whose values no gradient needs any more, such as the output of a
 * convolution or of a normalization.
 */
public final class Activations {

    private static final Script RELU =
            Script.compile("(x: Tensor) -> Tensor", "return torch.relu_(x)");

    private static final Script ADD_RELU =
            Script.compile(
                    "(x: Tensor, y: Tensor) -> Tensor", "return torch.relu_(torch.add_(x, y))");

    private static final Script GELU =
            Script.compile("(x: Tensor) -> Tensor", "return torch.gelu(x)");

    private static final ScriptTemplate FUSED_GELU =
            ScriptTemplate.of("(x: Tensor) -> Tensor", "return ops.saccade.gelu(x)");

    private Activations() {}

    /** Returns {@code max(x, 0)} in the memory of {@code x}. */
    public static NDArray relu(NDArray x) {
        return RELU.run(x);
    }

    /** Returns {@code max(x + y, 0)} in the memory of {@code x}. */
    public static NDArray addRelu(NDArray x, NDArray y) {
        return ADD_RELU.run(x, y);
    }

    /** Returns {@code x Phi(x)}, the exact form with the error function. */
    public static NDArray gelu(NDArray x) {
        return Kernels.isFusedForFloatsOnCpu(x) ? FUSED_GELU.with(Map.of()).run(x) : GELU.run(x);
    }
}
