package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;

/** The feed-forward layers of a transformer block: linear, GELU, linear over the last axis. */
public final class Mlp extends Layer {

    private final Linear fc1;
    private final Linear fc2;

    /**
     * Makes the layers.
     *
     * @param channels of input and output
     * @param hidden channels in between
     */
    public Mlp(int channels, int hidden) {
        fc1 = add("fc1", new Linear(channels, hidden));
        fc2 = add("fc2", new Linear(hidden, channels));
    }

    @Override
    protected NDArray forward(NDArray x) {
        return fc2.apply(fc1.forwardGelu(x));
    }
}
