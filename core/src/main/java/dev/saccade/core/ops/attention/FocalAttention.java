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

/**
 * Multi-head focal attention within windows (Yang et al. 2021): {@code softmax(q k^T / sqrt(d) +
 * bias) v} of every token over the keys of its window's {@link FocalRegion}.
 *
 * <p>The original rolls, partitions and unfolds the map 20 times; here, the keys of all windows are
 * gathered at once, without duplicates.
 */
public final class FocalAttention {

    private static final ScriptTemplate ATTEND =
            ScriptTemplate.read(FocalAttention.class, "attend");

    private FocalAttention() {}

    /**
     * Applies attention.
     *
     * @param qkv {@code [N, H', W', 3 C]}, padded and shifted by {@link Windows#arrange}
     * @param cells {@code [N, cells, 3 C]}: queries (unused), keys and values of the pooled cells,
     *     level by level and row-major
     * @param bias {@code [heads, area, keys]}, see {@link FocalBias}
     * @param map shape {@code [N, H, W, C]} of the map before it was arranged, and of the result
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
        return attend(
                region,
                qkv,
                cells,
                map,
                (pooled, index, mask) ->
                        region.windows().merge(attend.run(qkv, pooled, bias, index, mask), map));
    }

    static NDArray fused(
            FocalRegion region, NDArray qkv, Optional<NDArray> cells, NDArray bias, Shape map) {
        return attend(
                region,
                qkv,
                cells,
                map,
                (pooled, index, mask) -> {
                    Object[] inputs = {qkv, pooled, bias, index, mask, region.window()};
                    NDArray out = Script.call("ops.saccade.focal_attention", inputs);
                    return region.windows().restore(out, map);
                });
    }

    private interface Form {
        NDArray run(NDArray pooled, NDArray index, NDArray mask);
    }

    /** Applies attention; counts multiply-adds like the original, which also projects padding. */
    private static NDArray attend(
            FocalRegion region, NDArray qkv, Optional<NDArray> cells, Shape map, Form form) {
        NDList keys = region.keys(qkv);
        NDArray pooled = cells.orElseGet(() -> Functional.slice(qkv.flatten(1, 2), 1, 0, 0));
        long channels = qkv.getShape().get(3) / 3;
        long queries = qkv.size() / 3;
        long padding = queries / channels - map.slice(0, 3).size();
        return MultiplyAdds.run(
                2 * queries * region.keys() + padding * channels * channels,
                qkv,
                map,
                () -> form.run(pooled, keys.get(0), keys.get(1)));
    }
}
