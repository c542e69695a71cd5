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

    private static final ThreadLocal<long[]> COUNTER = new ThreadLocal<>();

    private MultiplyAdds() {}

    /**
     * Returns the multiply-adds of {@code forward}; only the shapes of its results are meaningful.
     */
    public static long count(Runnable forward) {
        long[] outer = COUNTER.get();
        long[] counter = new long[1];
        ThreadLocals.call(
                COUNTER,
                counter,
                () -> {
                    NoGrad.run(forward);
                    return counter;
                });
        if (outer != null) {
            outer[0] += counter[0];
        }
        return counter[0];
    }

    /**
     * Runs an operator. While this thread counts, adds the cost and returns zeros of shape {@code
     * result} instead, with the manager, device and data type of {@code x}.
     */
    public static NDArray run(
            long multiplyAdds, NDArray x, Shape result, Supplier<NDArray> operator) {
        if (COUNTER.get() == null) {
            return operator.get();
        }
        add(multiplyAdds);
        return x.getManager().zeros(result, x.getDataType());
    }

    /** Adds the cost of an operator that is cheap enough to run while counting. */
    public static void add(long multiplyAdds) {
        long[] counter = COUNTER.get();
        if (counter != null) {
            counter[0] += multiplyAdds;
        }
    }
}
