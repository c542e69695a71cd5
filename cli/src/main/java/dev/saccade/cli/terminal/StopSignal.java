package dev.saccade.cli.terminal;

import dev.saccade.core.OutputFolder;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Runs work that stops gracefully on Ctrl-C or SIGTERM. */
public final class StopSignal {

    private static final int INTERRUPTED = 130;

    private StopSignal() {}

    /**
     * Runs work without a state to save, and returns its result. On a signal, deletes unfinished
     * output folders and ends the process at once, because libtorch and ONNX Runtime can crash if
     * the process exits while their threads compute.
     */
    public static <T> T runHalting(Supplier<T> work) {
        return run(
                work,
                () -> {
                    try {
                        OutputFolder.discardUnfinished();
                    } finally {
                        Runtime.getRuntime().halt(INTERRUPTED);
                    }
                });
    }

    /**
     * Runs work and returns its result. On a signal, calls {@code stop} repeatedly in another
     * thread until the work ends.
     */
    public static <T> T run(Supplier<T> work, Runnable stop) {
        CountDownLatch done = new CountDownLatch(1);
        Thread hook =
                new Thread(
                        () -> {
                            try {
                                do {
                                    stop.run();
                                } while (!done.await(100, TimeUnit.MILLISECONDS));
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        },
                        "stop-signal");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            return work.get();
        } finally {
            done.countDown();
            remove(hook);
        }
    }

    private static void remove(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The process is ending, and the shutdown hook is running.
            return;
        }
    }
}
