package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import java.util.List;
import java.util.Optional;

/**
 * Multi-head self-attention within windows with a relative position bias (Liu et al. 2021, official
 * detection code): {@code softmax(q k^T / sqrt(d) + bias) v} in every window.
 *
 * <p>Padded tokens are keys like all others. Keys that a shift brought beside a query from the
 * other side of the map get -100 on their logit.
 */
public final class WindowAttention {

    private static final float UNSEEN = -100;

    private static final ScriptTemplate ATTEND =
            ScriptTemplate.of(
                    "(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor",
                    """
                    logits = torch.matmul(q * %s, torch.transpose(k, 3, 4))
                    return torch.matmul(torch.softmax(torch.add_(logits, bias), -1), v)
                    """);

    private static final ScriptTemplate ATTEND_MASKED =
            ScriptTemplate.of(
                    "(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, mask: Tensor) -> Tensor",
                    """
                    logits = torch.matmul(q * %s, torch.transpose(k, 3, 4))
                    logits = torch.add_(logits, bias + mask)
                    return torch.matmul(torch.softmax(logits, -1), v)
                    """);

    /**
     * Which third of a packed map holds what, and how products of queries and keys are scaled.
     *
     * @param scale the factor; {@code 1 / sqrt(d)} for heads of d channels, if there is none
     */
    public record Packing(int queries, int keys, int values, Optional<Double> scale) {

        private static final Packing QKV = new Packing(0, 1, 2, Optional.empty());
    }

    private WindowAttention() {}

    /**
     * Attends, with queries, keys and values packed in this order.
     *
     * @param windows how the map is cut
     * @param qkv {@code [N, H', W', 3 C]}, arranged by the windows: queries, keys and values, each
     *     of {@code heads} slices
     * @param bias {@code [heads, area, area]}, query by key
     * @param map the shape {@code [N, H, W, C]} of the map before it was arranged
     * @return {@code [N, H, W, C]}
     */
    public static NDArray of(Windows windows, NDArray qkv, NDArray bias, Shape map) {
        return of(windows, qkv, Packing.QKV, bias, map);
    }

    /**
     * Attends.
     *
     * @param windows how the map is cut
     * @param packed {@code [N, H', W', 3 C]}, arranged by the windows; each third is of {@code
     *     heads} slices
     * @param packing what the thirds are
     * @param bias {@code [heads, area, area]}, query by key
     * @param map the shape {@code [N, H, W, C]} of the map before it was arranged
     * @return {@code [N, H, W, C]}
     */
    public static NDArray of(
            Windows windows, NDArray packed, Packing packing, NDArray bias, Shape map) {
        return Scope.array(
                () -> {
                    Optional<NDArray> mask =
                            windows.isShifted()
                                    ? Optional.of(windows.mask(packed, UNSEEN))
                                    : Optional.empty();
                    int heads = Math.toIntExact(bias.getShape().get(0));
                    List<NDArray> parts = windows.split(packed, 3, heads);
                    NDArray q = parts.get(packing.queries);
                    NDArray k = parts.get(packing.keys);
                    NDArray v = parts.get(packing.values);
                    double d = q.getShape().get(4);
                    double scale = packing.scale.orElse(1 / Math.sqrt(d));
                    MultiplyAdds.add(2 * q.size() * windows.area());
                    return windows.merge(
                            mask.map(m -> ATTEND_MASKED.with(scale).run(q, k, v, bias, m))
                                    .orElseGet(() -> ATTEND.with(scale).run(q, k, v, bias)),
                            map);
                });
    }
}
