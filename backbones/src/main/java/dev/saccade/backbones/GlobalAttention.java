package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.ops.attention.DotProductAttention;

/** Multi-head attention of all tokens of a map {@code [N, H, W, C]} to all others. */
final class GlobalAttention extends Layer {

    private final int heads;
    private final Linear q;
    private final Linear kv;
    private final Linear proj;

    GlobalAttention(int channels, int heads, boolean qkvBias, boolean projBias) {
        this.heads = heads;
        q = add("q", new Linear(channels, channels, qkvBias));
        kv = add("kv", new Linear(channels, 2 * channels, qkvBias));
        proj = add("proj", new Linear(channels, channels, projBias));
    }

    @Override
    protected NDArray forward(NDArray x) {
        return proj.apply(DotProductAttention.attend(q.apply(x), kv.apply(x), heads));
    }
}
