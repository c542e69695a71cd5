package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.memory.Scope;

import java.util.function.UnaryOperator;

/** A module that maps one array to one array. Authors write {@link #forward}. */
public abstract class Layer extends Module implements UnaryOperator<NDArray> {

    /**
     * Returns the output of {@link #forward} and frees every other array that it created, like
     * calling a {@code torch.nn.Module}.
     *
     * @param x the input; it stays open, also if it is the output
     */
    @Override
    public final NDArray apply(NDArray x) {
        return Scope.apply(this::forward, x);
    }

    /**
     * Computes the output. No intermediate array needs to be closed.
     *
     * @param x the input, {@code [N, C, H, W]} unless the layer says otherwise
     */
    protected abstract NDArray forward(NDArray x);

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(apply(inputs.singletonOrThrow()));
    }
}
