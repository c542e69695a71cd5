package dev.saccade.core.ops.script;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ThreadLocals;
import dev.saccade.core.ops.memory.NoGrad;

import java.util.function.Supplier;

/**
 * Counts multiply-adds, which papers call FLOPs, of the operators that a thread runs.
 *
 * <p>Convolutions, matrix products and attention count; normalizations, activations, biases,
 * pooling of regions and resizing do not. mmcv's {@code get_model_complexity_info} adds batch
 * normalizations, ReLU, max pooling and biases (up to 0.4% of a detector) and leaves out the
 * products of attention. While a thread counts, expensive operators are replaced by zeros of the
 * shape of their result, so counting a model takes about a second at any size.
 */
public final class MultiplyAdds {

    private static final ThreadLocal<long[]> COUNTER = new ThreadLocal<>();

    private MultiplyAdds() {}

    /**
     * Returns the number of multiply-adds of the operators that {@code forward} runs. Values that
     * {@code forward} computes are meaningless; shapes are correct. A count within another one adds
     * to both.
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
     * Runs an operator. While this thread counts, adds its cost and returns zeros instead.
     *
     * @param multiplyAdds cost of the operator
     * @param x an input; the zeros have its manager, device and data type
     * @param result shape of the result
     * @param operator computes the result
     */
    public static NDArray run(
            long multiplyAdds, NDArray x, Shape result, Supplier<NDArray> operator) {
        if (COUNTER.get() == null) {
            return operator.get();
        }
        add(multiplyAdds);
        return x.getManager().zeros(result, x.getDataType());
    }

    /** Adds the cost of an operator that is cheap enough to run while this thread counts. */
    public static void add(long multiplyAdds) {
        long[] counter = COUNTER.get();
        if (counter != null) {
            counter[0] += multiplyAdds;
        }
    }
}
