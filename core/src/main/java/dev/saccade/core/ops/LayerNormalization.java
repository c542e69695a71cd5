package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/** Layer normalization over the last axis, of a map or of the sum of two. */
public final class LayerNormalization {

    private static final ScriptTemplate FUSED =
            ScriptTemplate.of(
                    "(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor",
                    "return ops.saccade.layer_norm(x, weight, bias, {eps})");

    private static final ScriptTemplate FUSED_SUM =
            ScriptTemplate.of(
                    "(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor) -> Tuple[Tensor, Tensor]",
                    "return ops.saccade.add_layer_norm(x, y, weight, bias, {eps})");

    private LayerNormalization() {}

    /**
     * Normalizes every vector.
     *
     * @param x {@code [..., C]}
     * @param weight {@code [C]}
     * @param bias {@code [C]}
     * @param eps what is added to the variance
     */
    public static NDArray normalize(NDArray x, NDArray weight, NDArray bias, float eps) {
        return Kernels.isFusedFor(x)
                ? FUSED.with(Map.of("eps", eps)).run(x, weight, bias)
                : portable(x, weight, bias, eps);
    }

    /**
     * Normalizes every vector of {@code x + y}.
     *
     * @param x {@code [..., C]}
     * @param y the same
     * @param weight {@code [C]}
     * @param bias {@code [C]}
     * @param eps what is added to the variance
     * @return the normalized sum, then the sum
     */
    public static NDList normalizeSum(
            NDArray x, NDArray y, NDArray weight, NDArray bias, float eps) {
        if (Kernels.isFusedFor(x)) {
            return FUSED_SUM.with(Map.of("eps", eps)).runAll(x, y, weight, bias);
        }
        NDArray sum = x.add(y);
        return new NDList(portable(sum, weight, bias, eps), sum);
    }

    private static NDArray portable(NDArray x, NDArray weight, NDArray bias, float eps) {
        return x.getNDArrayInternal()
                .layerNorm(x, weight.getShape(), weight, bias, eps)
                .singletonOrThrow();
    }
}
