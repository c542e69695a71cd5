package dev.saccade.core.ops.memory;

import ai.djl.pytorch.jni.JniUtils;

import dev.saccade.core.Libtorch;
import dev.saccade.core.ops.Autocast;

import java.util.function.Supplier;

/**
 * Runs code without recording gradients, in whatever thread it is called.
 *
 * <p>libtorch's gradient mode belongs to the thread and a fresh thread records, so everything that
 * infers, evaluates or prepares data goes through here.
 */
public final class NoGrad {

    private NoGrad() {}

    /** Returns whether gradients are off in this thread. */
    public static boolean isActive() {
        return !JniUtils.isGradMode();
    }

    /** Returns what {@code body} returns, run with gradients off; the mode is restored after. */
    public static <T> T call(Supplier<T> body) {
        Libtorch.engine();
        boolean recording = JniUtils.isGradMode();
        JniUtils.setGradMode(false);
        try {
            return Autocast.withoutGradients(body);
        } finally {
            JniUtils.setGradMode(recording);
        }
    }

    /** Runs {@code body} with gradients off; the mode is restored after. */
    public static void run(Runnable body) {
        call(
                () -> {
                    body.run();
                    return null;
                });
    }
}
