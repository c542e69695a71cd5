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
            ScriptTemplate.read(DotProductAttention.class, "attend");

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
