package dev.saccade.core.ops.memory;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDScope;

import dev.saccade.core.structures.Losses;

import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Frees every array that a piece of code created, except its result. Arrays needed by gradients
 * stay alive inside libtorch.
 */
public final class Scope {

    private Scope() {}

    /** Returns the result of {@code body} and frees all other arrays it created. */
    public static NDArray array(Supplier<NDArray> body) {
        return call(body, List::of);
    }

    /**
     * Returns {@code layer.apply(x)} and frees all other arrays it created. The input stays open
     * and keeps its owner, even if it is the output.
     */
    public static NDArray apply(UnaryOperator<NDArray> layer, NDArray x) {
        return call(() -> layer.apply(x), List::of, List.of(x));
    }

    /** Returns the result of {@code body} and frees all other arrays it created. */
    public static NDList list(Supplier<NDList> body) {
        return call(body, list -> list);
    }

    /** Like {@link #list}, for any result; {@code arrays} returns its arrays, which stay open. */
    public static <T> T call(Supplier<T> body, Function<T, ? extends Collection<NDArray>> arrays) {
        return call(body, arrays, List.of());
    }

    /**
     * Returns the result of {@code body} and frees all other arrays it created.
     *
     * @param arrays returns the arrays of the result, such as the levels of a pyramid
     * @param inputs arrays that keep their owner even if they are part of the result
     */
    public static <T> T call(
            Supplier<T> body,
            Function<T, ? extends Collection<NDArray>> arrays,
            List<NDArray> inputs) {
        T result;
        NDList kept;
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            result = body.get();
            kept = new NDList(arrays.apply(result));
            NDScope.unregister(kept);
        }
        for (NDArray array : kept) {
            // Comparing arrays with equals would compare their values.
            if (inputs.stream().noneMatch(input -> input == array)) {
                NDScope.register(array);
            }
        }
        return result;
    }

    /** Returns the result, which must hold no arrays, and frees all arrays {@code body} created. */
    public static <T> T call(Supplier<T> body) {
        return call(body, result -> List.of());
    }

    /** Returns the losses of {@code body} and frees all other arrays it created. */
    public static Losses losses(Supplier<Losses> body) {
        return call(body, Losses::scalars);
    }

    /** Runs {@code body} and frees all arrays it created. */
    public static void run(Runnable body) {
        call(
                () -> {
                    body.run();
                    return body;
                });
    }

    /** Applies steps and frees each intermediate result after the next step; x stays open. */
    public static NDArray chain(NDArray x, List<? extends UnaryOperator<NDArray>> steps) {
        NDArray y = x;
        for (UnaryOperator<NDArray> step : steps) {
            NDArray next = step.apply(y);
            if (y != x && y != next) {
                y.close();
            }
            y = next;
        }
        return y;
    }
}
