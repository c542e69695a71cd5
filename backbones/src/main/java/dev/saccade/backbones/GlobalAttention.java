package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.ops.attention.DotProductAttention;

/**
 * Multi-head attention on a map {@code [N, H, W, C]}; keys and values may come from a smaller map.
 */
final class GlobalAttention extends Layer {

    private final int heads;
    private final Linear q;
    private final Linear kv;
    private final Linear proj;
    private final Layer reduction;

    GlobalAttention(int channels, int heads, boolean qkvBias, boolean projBias) {
        this(channels, heads, qkvBias, projBias, new Sequential());
    }

    /** Creates a layer; {@code reduction} computes the map of the keys and values. */
    GlobalAttention(int channels, int heads, boolean qkvBias, boolean projBias, Layer reduction) {
        this.heads = heads;
        q = add("q", new Linear(channels, channels, qkvBias));
        kv = add("kv", new Linear(channels, 2 * channels, qkvBias));
        proj = add("proj", new Linear(channels, channels, projBias));
        this.reduction = add("", reduction);
    }

    @Override
    protected NDArray forward(NDArray x) {
        NDArray keys = kv.apply(reduction.apply(x));
        return proj.apply(DotProductAttention.attend(q.apply(x), keys, heads));
    }
}
