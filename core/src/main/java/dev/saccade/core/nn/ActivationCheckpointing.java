package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ThreadLocals;

import java.util.function.Supplier;

/**
 * Activation checkpointing (Chen et al. 2016) like PyTorch's {@code checkpoint} and mmdetection's
 * {@code with_cp}: a block keeps only its input and is recomputed in the backward pass.
 *
 * <p>The recomputation uses the same random numbers of {@link SampleRandom} and does not update
 * running statistics. Checkpointed blocks may be nested.
 */
public final class ActivationCheckpointing {

    private static final ThreadLocal<Boolean> REPEATING = ThreadLocal.withInitial(() -> false);

    private ActivationCheckpointing() {}

    /**
     * Returns {@code block.apply(x)}, checkpointed while a {@link Tape} records this thread.
     *
     * @param block layer that uses only {@code x} and its own parameters, and does not modify x
     * @return an array that must not be changed in place
     */
    public static NDArray run(Layer block, NDArray x) {
        Tape tape = Tape.current();
        return tape == null || !(isTrainable(block) || Autograd.requiresGradient(x))
                ? block.apply(x)
                : tape.cut(block, x);
    }

    private static boolean isTrainable(Layer block) {
        return block.namedParameters().values().stream()
                .anyMatch(p -> p.requiresGradient() && !Module.isBuffer(p));
    }

    /** Returns whether this thread recomputes a block and must not update running statistics. */
    static boolean isRepeating() {
        return REPEATING.get();
    }

    /** Returns the result of a forward pass that is marked as a recomputation. */
    static <T> T repeating(Supplier<T> forward) {
        return ThreadLocals.call(REPEATING, true, forward);
    }
}
