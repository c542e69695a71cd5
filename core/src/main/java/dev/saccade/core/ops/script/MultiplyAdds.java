package dev.saccade.core.ops.script;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ThreadLocals;
import dev.saccade.core.ops.memory.NoGrad;

import java.util.function.Supplier;

/**
 * Counts multiply-adds (called FLOPs in papers) of the operators that a thread runs.
 *
 * <p>Counts convolutions, matrix products and attention; not normalizations, activations, biases,
 * RoI pooling and resizing. mmcv's {@code get_model_complexity_info} also counts batch
 * normalization, ReLU, max pooling and biases (up to 0.4% of a detector) but not the products of
 * attention. While counting, expensive operators return zeros, so counting takes about a second at
 * any image size.
 */
public final class MultiplyAdds {

    private static final ThreadLocal<Counter> COUNTER = new ThreadLocal<>();

    private static final class Counter {

        private final boolean skips;
        private long total;

        private Counter(boolean skips) {
            this.skips = skips;
        }
    }

    private MultiplyAdds() {}

    /**
     * Returns the multiply-adds of {@code forward}; only the shapes of its results are meaningful.
     */
    public static long count(Runnable forward) {
        return count(forward, true);
    }

    /**
     * Runs {@code forward} and returns its multiply-adds; {@link #measured} grows meanwhile. Unlike
     * {@link #count}, counts only what Winograd convolutions compute, not a direct convolution.
     */
    public static long measure(Runnable forward) {
        return count(forward, false);
    }

    /** Returns the multiply-adds since the current {@link #measure} or {@link #count} started. */
    public static long measured() {
        return COUNTER.get().total;
    }

    private static long count(Runnable forward, boolean skips) {
        Counter outer = COUNTER.get();
        Counter counter = new Counter(skips);
        ThreadLocals.call(
                COUNTER,
                counter,
                () -> {
                    NoGrad.run(forward);
                    return counter;
                });
        if (outer != null) {
            outer.total += counter.total;
        }
        return counter.total;
    }

    /**
     * Runs an operator. While this thread counts, adds the cost and returns zeros of shape {@code
     * result} instead, with the manager, device and data type of {@code x}.
     */
    public static NDArray run(
            long multiplyAdds, NDArray x, Shape result, Supplier<NDArray> operator) {
        return run(multiplyAdds, multiplyAdds, x, result, operator);
    }

    /**
     * Runs an operator like {@link #run(long, NDArray, Shape, Supplier)}.
     *
     * @param computed multiply-adds of the algorithm, which {@link #measure} adds instead
     */
    public static NDArray run(
            long multiplyAdds, long computed, NDArray x, Shape result, Supplier<NDArray> operator) {
        Counter counter = COUNTER.get();
        add(counter != null && counter.skips ? multiplyAdds : computed);
        return counter != null && counter.skips
                ? x.getManager().zeros(result, x.getDataType())
                : operator.get();
    }

    /** Adds the cost of an operator that is cheap enough to run while counting. */
    public static void add(long multiplyAdds) {
        Counter counter = COUNTER.get();
        if (counter != null) {
            counter.total += multiplyAdds;
        }
    }
}
