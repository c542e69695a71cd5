package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;

import java.util.Optional;
import java.util.function.UnaryOperator;

/** A linear layer, {@code x W^T + b} over the last axis. */
public interface Affine extends UnaryOperator<NDArray> {

    /** Maps {@code [..., in]} to {@code [..., out]}. */
    @Override
    NDArray apply(NDArray x);

    /** Returns the bias, {@code [out]}. */
    Optional<NDArray> bias();
}
