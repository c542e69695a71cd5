package dev.saccade.core.ops.script;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ThreadLocals;

import java.util.function.Supplier;

/**
 * Whether arrays may be made whose shapes depend on the values of others, such as the positions
 * where a mask holds.
 *
 * <p>On a CPU that costs nothing, and no work is wasted on what is not there. On a GPU the program
 * would wait for all that it has told the GPU; there shapes are of the most that there can be, and
 * what is not there weighs nothing.
 */
public final class DynamicShapes {

    private static final ThreadLocal<Boolean> AVOIDED = ThreadLocal.withInitial(() -> false);

    private DynamicShapes() {}

    /** Returns whether they are free where an array lies. */
    public static boolean areAllowedFor(NDArray array) {
        return !AVOIDED.get() && !Tracer.isRecording() && !array.getDevice().isGpu();
    }

    /** Returns what {@code body} returns, run in this thread as on a GPU; for tests on a CPU. */
    public static <T> T callWithout(Supplier<T> body) {
        return ThreadLocals.call(AVOIDED, true, body);
    }
}
