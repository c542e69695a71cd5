package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.Map;

/**
 * Multi-head attention without bias or mask: {@code softmax(q k^T / sqrt(d)) v} of every query over
 * all keys of its image.
 *
 * <p>It is libtorch's fused attention, which holds no matrix of queries by keys, neither forward
 * nor backward. On CPUs its backward pass has one task for each head of each image; so where keys
 * are few the queries are cut in parts that count as images, all with the same keys, for one head
 * of one large image to keep every core busy.
 */
public final class DotProductAttention {

    private static final ScriptTemplate ATTEND =
            ScriptTemplate.of(
                    "(q: Tensor, kv: Tensor) -> Tensor",
                    """
                    heads = {heads}
                    n = torch.size(q, 0)
                    d = torch.size(q, 3) // heads
                    queries = torch.size(q, 1) * torch.size(q, 2)
                    keys = torch.size(kv, 1) * torch.size(kv, 2)
                    parts = {parts}
                    if queries % parts != 0 or keys * parts >= queries:
                      parts = 1
                    pairs = torch.reshape(kv, [n, 1, keys, 2, heads, d])
                    pairs = torch.expand(pairs, [n, parts, keys, 2, heads, d])
                    pairs = torch.reshape(pairs, [n * parts, keys, 2, heads, d])
                    k = torch.transpose(torch.select(pairs, 2, 0), 1, 2)
                    v = torch.transpose(torch.select(pairs, 2, 1), 1, 2)
                    near = torch.reshape(q, [n * parts, queries // parts, heads, d])
                    out = torch.scaled_dot_product_attention(torch.transpose(near, 1, 2), k, v)
                    return torch.reshape(torch.transpose(out, 1, 2), torch.size(q))
                    """);

    private static final int PARTS = 8;

    private DotProductAttention() {}

    /**
     * Attends.
     *
     * @param q {@code [N, H, W, C]}, queries of {@code heads} slices
     * @param kv {@code [N, h, w, 2 C]}, keys and then values, each of {@code heads} slices
     * @return {@code [N, H, W, C]}
     */
    public static NDArray attend(NDArray q, NDArray kv, int heads) {
        Shape keys = kv.getShape();
        Map<String, ?> constants =
                Map.of("heads", heads, "parts", Tracer.isRecording() ? 1 : PARTS);
        return MultiplyAdds.run(
                2 * q.size() * keys.get(1) * keys.get(2),
                q,
                q.getShape(),
                () -> ATTEND.with(constants).run(q, kv));
    }
}
