package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;

/** Feed-forward network of a transformer block: linear, GELU, linear over the last axis. */
public final class Mlp extends Layer {

    private final Linear fc1;
    private final Linear fc2;

    public Mlp(int channels, int hidden) {
        fc1 = add("fc1", new Linear(channels, hidden));
        fc2 = add("fc2", new Linear(hidden, channels));
    }

    @Override
    protected NDArray forward(NDArray x) {
        return fc2.apply(fc1.forwardGelu(x));
    }
}
