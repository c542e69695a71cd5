package dev.saccade.core.ops.memory;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.script.Script;

/**
 * How an array of shape {@code [N, C, H, W]} lies in memory.
 *
 * <p>With channels innermost, libtorch's convolutions are up to 1.6 times as fast on CPUs, and the
 * maps of a head are lists of cells without copying. Shapes, values and results stay the same.
 */
public final class MemoryFormat {

    private MemoryFormat() {}

    /** Returns a copy of {@code x}, of four axes, with channels innermost in memory. */
    public static NDArray channelsLast(NDArray x) {
        return Script.call("torch.clone", x, "memory_format=2");
    }

    /** Returns zeros of the shape and in the memory format of {@code x}. */
    public static NDArray zerosLike(NDArray x) {
        try (NDArray detached = x.stopGradient()) {
            return Script.call("torch.zeros_like", detached);
        }
    }

    /**
     * Writes the values of {@code source} into {@code target}, which keeps its place and format in
     * memory; {@code NDArray.set} gives it new memory.
     */
    public static void copy(NDArray source, NDArray target) {
        NoGrad.run(() -> Script.call("torch.copy_", target, source).close());
    }
}
