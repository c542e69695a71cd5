package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;

import java.util.Optional;
import java.util.function.UnaryOperator;

/** {@code x W^T + b} over the last axis. */
public interface Affine extends UnaryOperator<NDArray> {

    /**
     * Maps every vector.
     *
     * @param x {@code [..., in]}
     * @return {@code [..., out]}
     */
    @Override
    NDArray apply(NDArray x);

    /** Returns what zeros become, {@code [out]}, where it is not zeros. */
    Optional<NDArray> bias();
}
