package dev.saccade.core.ops.memory;

import ai.djl.pytorch.jni.JniUtils;

import dev.saccade.core.Libtorch;
import dev.saccade.core.ops.Autocast;

import java.util.function.Supplier;

/**
 * Runs code without recording gradients, like {@code torch.no_grad}. New threads record gradients,
 * so inference, evaluation and data preparation must use this class.
 */
public final class NoGrad {

    private NoGrad() {}

    /** Returns whether gradients are off in this thread. */
    public static boolean isActive() {
        return !JniUtils.isGradMode();
    }

    /** Runs {@code body} with gradients off, then restores the mode. */
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

    /** Runs {@code body} with gradients off, then restores the mode. */
    public static void run(Runnable body) {
        call(
                () -> {
                    body.run();
                    return null;
                });
    }
}
