package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;

import java.util.List;
import java.util.Optional;

/**
 * Depth-wise self-attention within windows (Zhou et al. 2023, Eq. 5): {@code o_i = q_i * mean_j k_j
 * + sum_j p_ij k_j}, channel by channel; there are no values beside the keys, no softmax and no
 * scale. Keys that a shift brought beside a query from the other side of the map count in neither
 * sum; padded ones do.
 */
public final class DepthwiseAttention {

    private static final Script MEAN_SEEN =
            Script.compile(
                    "(k: Tensor, unseen: Tensor) -> Tensor",
                    """
                    seen = 1 - unseen
                    return torch.matmul(seen / torch.sum(seen, [-1], True), k)
                    """);

    private static final Script WEIGHTED =
            Script.compile(
                    "(k: Tensor, bias: Tensor) -> Tensor",
                    """
                    n = torch.size(k, 0)
                    h = torch.size(k, 2)
                    a = torch.size(k, 3)
                    d = torch.size(k, 4)
                    keys = torch.reshape(torch.permute(k, [2, 3, 0, 1, 4]), [h, a, -1])
                    sums = torch.reshape(torch.bmm(bias, keys), [h, a, n, -1, d])
                    return torch.permute(sums, [2, 3, 0, 1, 4])
                    """);

    private static final Script WEIGHTED_SEEN =
            Script.compile(
                    "(k: Tensor, bias: Tensor, unseen: Tensor) -> Tensor",
                    "return torch.matmul(bias * (1 - unseen), k)");

    private DepthwiseAttention() {}

    /**
     * Attends.
     *
     * @param q {@code [N, windows, heads, area, d]}
     * @param k of the same shape
     * @param bias {@code [heads, area, area]}, query by key; none leaves out the second sum
     * @param unseen {@code [windows, 1, area, area]}: 1 for a key that a query does not see, else
     *     0; none if all are seen
     * @return the shape of {@code q}
     */
    public static NDArray attend(
            NDArray q, NDArray k, Optional<NDArray> bias, Optional<NDArray> unseen) {
        NDArray mean =
                unseen.map(u -> MEAN_SEEN.run(k, u))
                        .orElseGet(() -> Functional.mean(k, List.of(3), true));
        NDArray out = q.mul(mean);
        return bias.map(p -> out.addi(weighted(k, p, unseen))).orElse(out);
    }

    private static NDArray weighted(NDArray k, NDArray bias, Optional<NDArray> unseen) {
        return MultiplyAdds.run(
                k.size() * k.getShape().get(3),
                k,
                k.getShape(),
                () ->
                        unseen.map(u -> WEIGHTED_SEEN.run(k, bias, u))
                                .orElseGet(() -> WEIGHTED.run(k, bias)));
    }
}
