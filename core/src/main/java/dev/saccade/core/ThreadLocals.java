package dev.saccade.core;

import java.util.function.Supplier;

/** Sets thread-local variables for the duration of a call, like Java 21's {@code ScopedValue}. */
public final class ThreadLocals {

    private ThreadLocals() {}

    /** Returns the result of {@code body}, during which a variable has another value. */
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
