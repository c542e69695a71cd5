package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

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
                    n = torch.size(q, 0)
                    d = torch.size(q, 3) // %1$d
                    queries = torch.size(q, 1) * torch.size(q, 2)
                    keys = torch.size(kv, 1) * torch.size(kv, 2)
                    parts = 1
                    if queries %% %2$d == 0 and keys * %2$d < queries:
                      parts = %2$d
                    pairs = torch.reshape(kv, [n, 1, keys, 2, %1$d, d])
                    pairs = torch.expand(pairs, [n, parts, keys, 2, %1$d, d])
                    pairs = torch.reshape(pairs, [n * parts, keys, 2, %1$d, d])
                    k = torch.transpose(torch.select(pairs, 2, 0), 1, 2)
                    v = torch.transpose(torch.select(pairs, 2, 1), 1, 2)
                    heads = torch.reshape(q, [n * parts, queries // parts, %1$d, d])
                    out = torch.scaled_dot_product_attention(torch.transpose(heads, 1, 2), k, v)
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
    public static NDArray of(NDArray q, NDArray kv, int heads) {
        Shape keys = kv.getShape();
        MultiplyAdds.add(2 * q.size() * keys.get(1) * keys.get(2));
        return ATTEND.with(heads, PARTS).run(q, kv);
    }
}
