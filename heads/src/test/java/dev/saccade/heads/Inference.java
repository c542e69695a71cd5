package dev.saccade.heads;

import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;

import java.util.function.Supplier;

/** Runs heads like a model does. */
public final class Inference {

    private Inference() {}

    /** Returns a prediction without recording gradients; frees all arrays. */
    public static <T> T predict(Supplier<T> prediction) {
        return NoGrad.call(() -> Scope.call(prediction));
    }
}
