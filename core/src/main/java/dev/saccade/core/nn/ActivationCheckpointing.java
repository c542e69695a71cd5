package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ThreadLocals;

import java.util.function.Supplier;

/**
 * Activation checkpointing (Chen et al. 2016; PyTorch's {@code checkpoint}, mmdetection's {@code
 * with_cp}): a block keeps nothing but its input, and runs once more in the backward pass.
 *
 * <p>The gradients are those of {@code block.apply(x)}. Draws from {@link SampleRandom} are the
 * same in both runs, running statistics move in the first one only, and a block may itself hold
 * blocks that are recomputed.
 */
public final class ActivationCheckpointing {

    private static final ThreadLocal<Boolean> REPEATING = ThreadLocal.withInitial(() -> false);

    private ActivationCheckpointing() {}

    /**
     * Returns {@code block.apply(x)}; within {@link Autograd#gradients} what the block computes on
     * the way is freed at once.
     *
     * <p>Everywhere else, as in inference or under DJL's own gradient collector, and for a block
     * that needs no gradient, this simply is {@code block.apply(x)}.
     *
     * @param block learns by no parameters but its own and is given no recorded array but {@code
     *     x}, which it leaves as it is
     * @param x any shape
     * @return an array that must not be changed in place
     */
    public static NDArray run(Layer block, NDArray x) {
        Tape tape = Tape.current();
        return tape == null || !(learns(block) || Autograd.requiresGradient(x))
                ? block.apply(x)
                : tape.cut(block, x);
    }

    private static boolean learns(Layer block) {
        return block.namedParameters().values().stream()
                .anyMatch(p -> p.requiresGradient() && !Module.isBuffer(p));
    }

    /** Returns whether this forward pass repeats an earlier one, statistics of which are taken. */
    static boolean isRepeating() {
        return REPEATING.get();
    }

    /** Runs a forward pass that repeats an earlier one. */
    static <T> T repeating(Supplier<T> forward) {
        return ThreadLocals.call(REPEATING, true, forward);
    }
}
