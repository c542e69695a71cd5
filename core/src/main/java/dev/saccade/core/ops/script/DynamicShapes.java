package dev.saccade.core.ops.script;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ThreadLocals;

import java.util.function.Supplier;

/**
 * Decides whether arrays may have shapes that depend on values, such as the result of {@code
 * nonzero}.
 *
 * <p>On a CPU, dynamic shapes are free and avoid computations on padding. On a GPU, computing them
 * waits for all pending work; there, arrays have their maximum size, and padding has weight 0.
 */
public final class DynamicShapes {

    private static final ThreadLocal<Boolean> DISABLED = ThreadLocal.withInitial(() -> false);

    private DynamicShapes() {}

    /** Returns whether dynamic shapes are allowed on the device of an array. */
    public static boolean areAllowedFor(NDArray array) {
        return !DISABLED.get() && !Tracer.isRecording() && !array.getDevice().isGpu();
    }

    /** Runs {@code body} without dynamic shapes, to test GPU behavior on a CPU. */
    public static <T> T callWithout(Supplier<T> body) {
        return ThreadLocals.call(DISABLED, true, body);
    }
}
