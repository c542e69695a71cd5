package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDScope;

import dev.saccade.core.structures.Losses;

import java.util.function.Supplier;

/**
 * Frees every array that a piece of code made, except its result, when the code is done; what the
 * gradient needs stays alive inside libtorch.
 */
public final class Scope {

    private Scope() {}

    /** Returns the array that {@code body} returns; all others it made are freed. */
    public static NDArray array(Supplier<NDArray> body) {
        return list(() -> new NDList(body.get())).singletonOrThrow();
    }

    /** Returns the arrays that {@code body} returns; all others it made are freed. */
    public static NDList list(Supplier<NDList> body) {
        NDList kept;
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            kept = body.get();
            NDScope.unregister(kept);
        }
        kept.forEach(NDScope::register);
        return kept;
    }

    /** Returns the losses that {@code body} computes; all other arrays it made are freed. */
    public static Losses losses(Supplier<Losses> body) {
        Losses[] losses = new Losses[1];
        list(
                () -> {
                    losses[0] = body.get();
                    NDList kept = new NDList(losses[0].terms().values());
                    return kept.addAll(new NDList(losses[0].figures().values()));
                });
        return losses[0];
    }

    /** Runs {@code body} and frees every array it made. */
    public static void run(Runnable body) {
        list(
                () -> {
                    body.run();
                    return new NDList();
                });
    }
}
