package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;

import java.util.List;
import java.util.Optional;

/**
 * Depth-wise self-attention within windows (Zhou et al. 2023, Eq. 5): {@code o_i = q_i * mean_j k_j
 * + sum_j p_ij k_j} per channel, without values, softmax or scale. Keys masked because of a cyclic
 * shift are excluded from the mean and the sum; padded keys are included.
 */
public final class DepthwiseAttention {

    private DepthwiseAttention() {}

    /**
     * Applies attention.
     *
     * @param q {@code [N, windows, heads, area, d]}, like {@code k} and the result
     * @param bias {@code [heads, area, area]}, query by key; empty omits the sum
     * @param unseen {@code [windows, 1, area, area]}: 1 for masked keys, else 0
     */
    public static NDArray attend(
            NDArray q, NDArray k, Optional<NDArray> bias, Optional<NDArray> unseen) {
        Optional<NDArray> seen = unseen.map(u -> Script.call("torch.rsub", u, 1));
        NDArray mean =
                seen.map(s -> s.div(s.sum(new int[] {-1}, true)).matMul(k))
                        .orElseGet(() -> Functional.mean(k, List.of(3), true));
        NDArray out = q.mul(mean);
        return bias.map(p -> out.addi(weighted(k, p, seen))).orElse(out);
    }

    private static NDArray weighted(NDArray k, NDArray bias, Optional<NDArray> seen) {
        return MultiplyAdds.run(
                k.size() * k.getShape().get(3),
                k,
                k.getShape(),
                () -> seen.map(s -> bias.mul(s).matMul(k)).orElseGet(() -> sums(k, bias)));
    }

    private static NDArray sums(NDArray k, NDArray bias) {
        long[] shape = k.getShape().getShape();
        NDArray keys = k.transpose(2, 3, 0, 1, 4).reshape(shape[2], shape[3], -1);
        return bias.matMul(keys)
                .reshape(shape[2], shape[3], shape[0], -1, shape[4])
                .transpose(2, 3, 0, 1, 4);
    }
}
