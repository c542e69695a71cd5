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
 * Frees every array that a piece of code made, except its result, when the code is done; what the
 * gradient needs stays alive inside libtorch.
 */
public final class Scope {

    private Scope() {}

    /** Returns the array that {@code body} returns; all others it made are freed. */
    public static NDArray array(Supplier<NDArray> body) {
        return call(body, List::of);
    }

    /**
     * Returns {@code layer.apply(x)}; all other arrays that it created are freed.
     *
     * @param x the input; it stays open and with its owner, also if it is the output
     */
    public static NDArray apply(UnaryOperator<NDArray> layer, NDArray x) {
        return call(() -> layer.apply(x), List::of, List.of(x));
    }

    /** Returns the arrays that {@code body} returns; all others it made are freed. */
    public static NDList list(Supplier<NDList> body) {
        return call(body, list -> list);
    }

    /**
     * Returns what {@code body} returns; all arrays that it made are freed, but those of the
     * result.
     *
     * @param arrays those of the result, such as the levels of a pyramid
     */
    public static <T> T call(Supplier<T> body, Function<T, ? extends Collection<NDArray>> arrays) {
        return call(body, arrays, List.of());
    }

    /**
     * Returns the result of {@code body} and frees all other arrays that it created.
     *
     * @param arrays the arrays of the result, such as the levels of a pyramid
     * @param inputs arrays that stay with their owner even if they are part of the result
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

    /** Returns what {@code body} returns, which holds no array; all that it made are freed. */
    public static <T> T call(Supplier<T> body) {
        return call(body, result -> List.of());
    }

    /** Returns the losses that {@code body} computes; all other arrays it made are freed. */
    public static Losses losses(Supplier<Losses> body) {
        return call(body, Losses::scalars);
    }

    /** Runs {@code body} and frees every array it made. */
    public static void run(Runnable body) {
        call(
                () -> {
                    body.run();
                    return body;
                });
    }

    /**
     * Returns what the last of some steps returns, each given what the one before returned, which
     * is freed as soon as the next is there.
     *
     * @param x what the first step is given; it stays
     */
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
