package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.nn.Precision;

import java.util.Map;
import java.util.Optional;

/**
 * {@code x W^T + b} on a CPU: through oneDNN, but for the gradients by weight and bias, which are
 * summed over all rows. There oneDNN reaches half the speed that it has elsewhere.
 */
public final class LinearProduct {

    private static final String TEXT = "return ops.saccade.linear(x, weight, {bias})";

    private static final ScriptTemplate MULTIPLY =
            counting("(x: Tensor, weight: Tensor) -> Tensor");

    private static final ScriptTemplate MULTIPLY_AND_SHIFT =
            counting("(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor");

    private LinearProduct() {}

    private static ScriptTemplate counting(String signature) {
        return ScriptTemplate.of(signature, TEXT)
                .counting((in, out) -> in.get(0).size() * in.get(1).getShape().get(0));
    }

    /** Returns whether the operator of {@link Kernels} takes an array, to multiply in float32. */
    public static boolean isFusedFor(NDArray x) {
        return Kernels.isFusedForFloatsOnCpu(x)
                && Autocast.precision(x.getDevice()) == Precision.FLOAT32;
    }

    /**
     * Maps every vector.
     *
     * @param x {@code [..., in]}
     * @param weight {@code [out, in]}
     * @param bias {@code [out]}
     * @return {@code [..., out]}
     */
    public static NDArray multiply(NDArray x, NDArray weight, Optional<NDArray> bias) {
        return bias.map(
                        shift ->
                                MULTIPLY_AND_SHIFT
                                        .with(Map.of("bias", "bias"))
                                        .run(x, weight, shift))
                .orElseGet(() -> MULTIPLY.with(Map.of("bias", "None")).run(x, weight));
    }
}
