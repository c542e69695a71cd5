package dev.saccade.core.ops;

/**
 * Counts the multiply-adds of the layers that run in a thread; what papers call FLOPs.
 *
 * <p>Convolutions and matrix products count; normalizations, activations and resizing do not, as in
 * mmdetection's counter.
 */
public final class MultiplyAdds {

    private static final ThreadLocal<long[]> COUNTER = new ThreadLocal<>();

    private MultiplyAdds() {}

    /** Returns the number of multiply-adds of the layers that {@code forward} runs. */
    public static long count(Runnable forward) {
        long[] counter = new long[1];
        COUNTER.set(counter);
        try {
            forward.run();
        } finally {
            COUNTER.remove();
        }
        return counter[0];
    }

    /** Adds to the count of this thread, if there is one. */
    public static void add(long multiplyAdds) {
        long[] counter = COUNTER.get();
        if (counter != null) {
            counter[0] += multiplyAdds;
        }
    }
}
