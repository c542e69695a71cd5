package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

/** A module from one array to one array. */
public abstract class Layer extends Module {

    /**
     * Returns the output for one input; it belongs to the manager of the input.
     *
     * @param x the input, {@code [N, C, H, W]} unless the layer says otherwise
     */
    public abstract NDArray forward(NDArray x);

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(forward(inputs.singletonOrThrow()));
    }
}
