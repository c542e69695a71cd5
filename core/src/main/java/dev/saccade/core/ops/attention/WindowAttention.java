package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.attention.Windows.Order;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Multi-head self-attention within windows with relative position bias (Liu et al. 2021, official
 * detection code): {@code softmax(q k^T / sqrt(d) + bias) v} in every window.
 *
 * <p>Padding tokens are ordinary keys, projected to the bias of the linear layer. Keys that a
 * cyclic shift moved next to a query from the other side of the map are masked with -100.
 */
public final class WindowAttention {

    private static final float MASKED = -100;

    private static final ScriptTemplate ATTEND =
            ScriptTemplate.of(
                    "(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor",
                    """
                    logits = torch.matmul(q * {scale}, torch.transpose(k, 3, 4))
                    return torch.matmul(torch.softmax(torch.add_(logits, bias), -1), v)
                    """);

    /**
     * Layout of a packed map: which third holds queries, keys and values. Logits are multiplied by
     * {@code scale}, by default {@code 1 / sqrt(d)} for heads of d channels.
     */
    public record Packing(int queries, int keys, int values, Optional<Double> scale) {

        private static final Packing QKV = new Packing(0, 1, 2, Optional.empty());

        private double scaleFor(long depth) {
            double d = depth;
            return scale.orElse(1 / Math.sqrt(d));
        }
    }

    private WindowAttention() {}

    /** Applies attention with packed queries, keys and values, in this order. */
    public static NDArray attend(Windows windows, NDArray map, Affine qkv, NDArray table) {
        return attend(windows, map, qkv, Packing.QKV, table);
    }

    /**
     * Applies attention.
     *
     * @param map {@code [N, H, W, in]}; the result is {@code [N, H, W, C]}
     * @param projection projects to {@code 3 C} channels; each third has one slice per head
     * @param table {@code [(2 M - 1)^2, heads]}, see {@link RelativePositionBias#ofWindow}
     */
    public static NDArray attend(
            Windows windows, NDArray map, Affine projection, Packing packing, NDArray table) {
        // In inference, this frees the packed map before the output projection.
        return Scope.array(
                () ->
                        Kernels.isFusedFor(map)
                                ? fused(windows, map, projection, packing, table)
                                : portable(windows, map, projection, packing, table));
    }

    static NDArray portable(
            Windows windows, NDArray map, Affine projection, Packing packing, NDArray table) {
        NDArray packed = projection.apply(windows.arrange(map));
        int heads = Math.toIntExact(table.getShape().get(1));
        List<NDArray> parts = windows.split(packed, 3, heads);
        NDArray q = parts.get(packing.queries);
        NDArray k = parts.get(packing.keys);
        NDArray v = parts.get(packing.values);
        NDArray bias = RelativePositionBias.ofWindow(table, windows.height(), windows.width());
        if (windows.isShifted()) {
            bias = bias.add(windows.mask(packed, MASKED));
        }
        long depth = q.getShape().get(4);
        countOutputOfPadding(padded(windows, map), heads * depth);
        Script attend = ATTEND.with(Map.of("scale", packing.scaleFor(depth)));
        NDArray[] inputs = {q, k, v, bias};
        NDArray out =
                MultiplyAdds.run(
                        2 * q.size() * windows.area(), q, q.getShape(), () -> attend.run(inputs));
        return windows.merge(out, map.getShape());
    }

    static NDArray fused(
            Windows windows, NDArray map, Affine projection, Packing packing, NDArray table) {
        NDArray packed = projection.apply(map);
        Shape shape = packed.getShape();
        long heads = table.getShape().get(1);
        long channels = shape.get(3);
        long padded = padded(windows, map);
        MultiplyAdds.add(padded * map.getShape().get(3) * channels);
        countOutputOfPadding(padded, channels / 3);
        return MultiplyAdds.run(
                2 * windows.tokens(shape) * channels / 3 * windows.area(),
                packed,
                shape.slice(0, 3).add(channels / 3),
                () ->
                        Script.call(
                                "ops.saccade.window_attention",
                                packed,
                                projection.bias().orElse(null),
                                table,
                                heads,
                                List.of(windows.height(), windows.width()),
                                List.of(windows.shiftY(), windows.shiftX()),
                                windows.order() == Order.PAD_THEN_SHIFT,
                                List.of(packing.queries, packing.keys, packing.values),
                                packing.scaleFor(channels / 3 / heads)));
    }

    private static long padded(Windows windows, NDArray map) {
        return windows.tokens(map.getShape()) - map.size() / map.getShape().get(3);
    }

    /** Counts the output projection of padding, which Swin's code computes and Saccade skips. */
    private static void countOutputOfPadding(long padded, long channels) {
        MultiplyAdds.add(padded * channels * channels);
    }
}
