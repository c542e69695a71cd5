package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

/**
 * Arrays of Java values that own their memory, and what else DJL's own ways get wrong.
 *
 * <p>What {@code NDManager.create} makes on a CPU lies in a Java buffer, which is freed when the
 * array is closed, even while a gradient or a view inside libtorch still reads it; its {@code
 * mul(Number)} and {@code div(Number)} make such arrays too. So whatever goes into a loss, or may
 * be closed before what was made of it, comes from here.
 */
public final class Tensors {

    private Tensors() {}

    /** Returns a copy of values, row-major. */
    public static NDArray of(NDManager manager, float[] values, Shape shape) {
        return owning(manager.create(values, shape));
    }

    /** Returns a copy of values, row-major. */
    public static NDArray of(NDManager manager, int[] values, Shape shape) {
        return owning(manager.create(values, shape));
    }

    /** Returns a scalar. */
    public static NDArray of(NDManager manager, float value) {
        return owning(manager.create(value));
    }

    /**
     * Joins arrays along an axis; DJL's own way takes an array that stands alone off the gradient.
     */
    public static NDArray concat(NDList parts, int axis) {
        return parts.size() == 1 ? parts.get(0) : NDArrays.concat(parts, axis);
    }

    private static NDArray owning(NDArray borrowing) {
        try (borrowing) {
            return borrowing.duplicate();
        }
    }
}
