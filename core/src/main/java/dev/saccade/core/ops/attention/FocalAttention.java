package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Multi-head focal attention within windows (Yang et al. 2021): {@code softmax(q k^T / sqrt(d) +
 * bias) v} of every token over the keys of its window's {@link FocalRegion}.
 *
 * <p>Where the original rolls, cuts and unfolds the map 20 times, the keys of all windows are
 * gathered from a list of tokens at once, each of them once. The fused operator gathers those of
 * one head of one window at a time, and keeps them and the scores in the cache.
 */
public final class FocalAttention {

    private static final ScriptTemplate ATTEND =
            ScriptTemplate.of(
                    "(qkv: Tensor, cells: Tensor, bias: Tensor, index: Tensor, mask: Tensor) ->"
                            + " Tensor",
                    """
                    window = {window}
                    first_masked = {first_masked}
                    n = torch.size(qkv, 0)
                    heads = torch.size(bias, 0)
                    windows = torch.size(index, 0)
                    keys = torch.size(index, 1)
                    d = torch.size(qkv, 3) // 3 // heads
                    q, k, v, = torch.split(qkv, heads * d, 3)
                    _0, k_cells, v_cells, = torch.split(cells, heads * d, 2)
                    none = torch.new_zeros(qkv, [n, heads, 1, d])
                    list = [n, -1, heads, d]
                    k_list = torch.cat([none, torch.transpose(torch.reshape(k, list), 1, 2), torch.transpose(torch.reshape(k_cells, list), 1, 2)], 2)
                    v_list = torch.cat([none, torch.transpose(torch.reshape(v, list), 1, 2), torch.transpose(torch.reshape(v_cells, list), 1, 2)], 2)
                    first = torch.arange(n * heads, dtype=3, device=ops.prim.device(qkv)) * torch.size(k_list, 2)
                    rows = torch.reshape(first, [n, 1, heads, 1]) + torch.unsqueeze(index, 1)
                    k_windows = torch.embedding(torch.flatten(k_list, 0, 2), rows)
                    v_windows = torch.embedding(torch.flatten(v_list, 0, 2), rows)
                    map = torch.reshape(q, [n, torch.size(q, 1) // window, window, torch.size(q, 2) // window, window, heads, d])
                    scaled = torch.mul_(torch.clone(torch.permute(map, [0, 1, 3, 5, 2, 4, 6]), memory_format=0), d ** -0.5)
                    q_windows = torch.reshape(scaled, [n, windows, heads, -1, d])
                    logits = torch.add_(torch.matmul(q_windows, torch.transpose(k_windows, 3, 4)), bias)
                    if first_masked == 0:
                      logits = torch.add_(logits, torch.unsqueeze(mask, 1))
                    else:
                      masked = torch.slice(torch.detach(logits), 4, first_masked)
                      _1 = torch.add_(masked, torch.unsqueeze(torch.slice(mask, 2, first_masked), 1))
                    return torch.matmul(torch.softmax(logits, -1), v_windows)
                    """);

    private FocalAttention() {}

    /**
     * Attends.
     *
     * @param region the keys of a window
     * @param qkv {@code [N, H', W', 3 C]}, arranged by the windows: queries, keys and values, each
     *     of {@code heads} slices
     * @param cells {@code [N, cells, 3 C]}, the same of the pooled cells, level by level and
     *     row-major; their queries are not used
     * @param bias {@code [heads, area, keys]}, as of {@link FocalBias}
     * @param map the shape {@code [N, H, W, C]} of the map before it was arranged
     * @return {@code [N, H, W, C]}
     */
    public static NDArray attend(
            FocalRegion region, NDArray qkv, Optional<NDArray> cells, NDArray bias, Shape map) {
        return Kernels.isFusedFor(qkv)
                ? fused(region, qkv, cells, bias, map)
                : portable(region, qkv, cells, bias, map);
    }

    static NDArray portable(
            FocalRegion region, NDArray qkv, Optional<NDArray> cells, NDArray bias, Shape map) {
        int firstMasked = Tracer.isRecording() ? 0 : region.firstMasked();
        Script attend = ATTEND.with(Map.of("window", region.window(), "first_masked", firstMasked));
        NDList keys = region.keys(qkv);
        NDArray pooled = cells.orElseGet(() -> noCells(qkv));
        return counted(
                region,
                qkv,
                map,
                () -> {
                    NDArray out = attend.run(qkv, pooled, bias, keys.get(0), keys.get(1));
                    return region.windows().merge(out, map);
                });
    }

    static NDArray fused(
            FocalRegion region, NDArray qkv, Optional<NDArray> cells, NDArray bias, Shape map) {
        NDList keys = region.keys(qkv);
        NDArray pooled = cells.orElseGet(() -> noCells(qkv));
        return counted(
                region,
                qkv,
                map,
                () -> {
                    NDArray out =
                            Script.call(
                                    "ops.saccade.focal_attention",
                                    qkv,
                                    pooled,
                                    bias,
                                    keys.get(0),
                                    keys.get(1),
                                    region.window());
                    return region.windows().restore(out, map);
                });
    }

    /** The original code also maps the padding of windows to outputs, which ours crops before. */
    private static NDArray counted(
            FocalRegion region, NDArray qkv, Shape map, Supplier<NDArray> operator) {
        long channels = qkv.getShape().get(3) / 3;
        long queries = qkv.size() / 3;
        long padding = queries / channels - map.slice(0, 3).size();
        return MultiplyAdds.run(
                2 * queries * region.keys() + padding * channels * channels, qkv, map, operator);
    }

    private static NDArray noCells(NDArray qkv) {
        return Functional.slice(qkv.flatten(1, 2), 1, 0, 0);
    }
}
