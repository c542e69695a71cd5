package dev.saccade.core.ops;

import ai.djl.ndarray.NDList;

/**
 * Counts the multiply-adds of the operators that run in a thread; what papers call FLOPs.
 *
 * <p>An operator says how many it has, beside its text: {@link Script#counting}; the composed ones
 * of this package say it where they choose how to run. Layers and models know nothing of it.
 *
 * <p>Convolutions and matrix products count; normalizations, activations and resizing do not, as in
 * mmdetection's counter.
 */
public final class MultiplyAdds {

    private static final ThreadLocal<long[]> COUNTER = new ThreadLocal<>();

    /** The cost of one call of an operator. */
    @FunctionalInterface
    public interface Formula {

        /** Of what moves, adds or normalizes. */
        Formula NONE = (inputs, outputs) -> 0;

        /** Returns the number of multiply-adds that have led from some arrays to others. */
        long count(NDList inputs, NDList outputs);
    }

    private MultiplyAdds() {}

    /** Returns the number of multiply-adds of the operators that {@code forward} runs. */
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

    /** Adds a call of an operator to the count of this thread, if there is one. */
    static void add(Formula formula, NDList inputs, NDList outputs) {
        if (COUNTER.get() != null) {
            add(formula.count(inputs, outputs));
        }
    }

    /** Adds to the count of this thread, if there is one. */
    static void add(long multiplyAdds) {
        long[] counter = COUNTER.get();
        if (counter != null) {
            counter[0] += multiplyAdds;
        }
    }
}
