package dev.saccade.core;

import java.util.function.Supplier;

/** Sets thread-local variables for the duration of a call, like Java 21's {@code ScopedValue}. */
public final class ThreadLocals {

    private ThreadLocals() {}

    /** Runs {@code body} while a variable has the given value; returns the result of the body. */
    public static <V, T> T call(ThreadLocal<V> variable, V value, Supplier<T> body) {
        V outer = variable.get();
        variable.set(value);
        try {
            return body.get();
        } finally {
            variable.set(outer);
        }
    }
}
