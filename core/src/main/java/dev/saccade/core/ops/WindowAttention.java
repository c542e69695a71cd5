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

    private static final String LOGITS =
            """
            d = torch.size(q, 4)
            logits = torch.matmul(q * (d ** -0.5), torch.transpose(k, 3, 4))
            """;

    private static final Script ATTEND =
            Script.compile(
                    "(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor",
                    LOGITS
                            + """
                            return torch.matmul(torch.softmax(torch.add_(logits, bias), -1), v)
                            """);

    private static final Script ATTEND_MASKED =
            Script.compile(
                    "(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, mask: Tensor) -> Tensor",
                    LOGITS
                            + """
                            logits = torch.add_(logits, bias + mask)
                            return torch.matmul(torch.softmax(logits, -1), v)
                            """);

    private WindowAttention() {}

    /**
     * Attends.
     *
     * @param windows how the map is cut
     * @param qkv {@code [N, H', W', 3 C]}, arranged by the windows: queries, keys and values, each
     *     of {@code heads} slices
     * @param bias {@code [heads, area, area]}, query by key
     * @param map the shape {@code [N, H, W, C]} of the map before it was arranged
     * @return {@code [N, H, W, C]}
     */
    public static NDArray of(Windows windows, NDArray qkv, NDArray bias, Shape map) {
        return Scope.array(
                () -> {
                    Optional<NDArray> mask =
                            windows.isShifted()
                                    ? Optional.of(windows.mask(qkv, UNSEEN))
                                    : Optional.empty();
                    int heads = Math.toIntExact(bias.getShape().get(0));
                    List<NDArray> parts = windows.split(qkv, 3, heads);
                    NDArray q = parts.get(0);
                    NDArray k = parts.get(1);
                    NDArray v = parts.get(2);
                    MultiplyAdds.add(2 * q.size() * windows.area());
                    return windows.merge(
                            mask.map(m -> ATTEND_MASKED.run(q, k, v, bias, m))
                                    .orElseGet(() -> ATTEND.run(q, k, v, bias)),
                            map);
                });
    }
}
