package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.memory.Scope;

import java.util.function.UnaryOperator;

/** A module that maps one array to one array. Subclasses implement {@link #forward}. */
public abstract class Layer extends Module implements UnaryOperator<NDArray> {

    /**
     * Returns the output of {@link #forward} and frees all other arrays that it created. The input
     * stays open, even if it is the output.
     */
    @Override
    public final NDArray apply(NDArray x) {
        return LayerProfile.run(this, x, () -> Scope.apply(this::forward, x));
    }

    /** Computes the output, often for {@code [N, C, H, W]}; intermediate arrays are freed. */
    protected abstract NDArray forward(NDArray x);

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(apply(inputs.singletonOrThrow()));
    }
}
