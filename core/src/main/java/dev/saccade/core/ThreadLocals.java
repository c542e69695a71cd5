package dev.saccade.core;

import java.util.function.Supplier;

/** Sets thread-local variables for the duration of a call, like Java 21's {@code ScopedValue}. */
public final class ThreadLocals {

    private ThreadLocals() {}

    /** Runs {@code body} with another value of a variable and returns its result. */
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
