package dev.saccade.core.ops.memory;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.script.Script;

/**
 * Memory format of arrays of shape {@code [N, C, H, W]}. With channels last, libtorch's
 * convolutions are up to 1.6 times as fast on CPUs, and heads can view maps as {@code [N, H * W,
 * C]} without a copy.
 */
public final class MemoryFormat {

    private MemoryFormat() {}

    /** Copies {@code [N, C, H, W]} to channels-last format. */
    public static NDArray channelsLast(NDArray x) {
        return Script.call("torch.clone", x, "memory_format=2");
    }

    /** Returns zeros with the shape and memory format of {@code x}. */
    public static NDArray zerosLike(NDArray x) {
        try (NDArray detached = x.stopGradient()) {
            return Script.call("torch.zeros_like", detached);
        }
    }

    /** Copies values to {@code target}, which keeps its memory, unlike in {@code NDArray.set}. */
    public static void copy(NDArray source, NDArray target) {
        NoGrad.run(() -> Script.call("torch.copy_", target, source).close());
    }
}
