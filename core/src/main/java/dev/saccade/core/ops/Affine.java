package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;

import java.util.Optional;

/** {@code x W^T + b} over the last axis. */
public interface Affine {

    /**
     * Maps every vector.
     *
     * @param x {@code [..., in]}
     * @return {@code [..., out]}
     */
    NDArray forward(NDArray x);

    /** Returns what zeros become, {@code [out]}, where it is not zeros. */
    Optional<NDArray> bias();
}
