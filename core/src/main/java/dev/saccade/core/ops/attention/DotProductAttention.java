package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.Map;

/**
 * Multi-head attention without bias or mask: {@code softmax(q k^T / sqrt(d)) v} over all keys of
 * the image.
 *
 * <p>Uses libtorch's fused attention, which never holds the query-by-key matrix. On CPUs, its
 * backward pass has one task per head and image; to keep all cores busy, queries are split into
 * parts, treated as images, if there are more than 8 times as many as keys.
 */
public final class DotProductAttention {

    private static final ScriptTemplate ATTEND =
            ScriptTemplate.read(DotProductAttention.class, "attend");

    private static final int PARTS = 8;

    private DotProductAttention() {}

    /**
     * Applies attention.
     *
     * @param q {@code [N, H, W, C]}, like the result
     * @param kv {@code [N, h, w, 2 C]}, keys then values
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
