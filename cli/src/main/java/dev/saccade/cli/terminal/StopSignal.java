package dev.saccade.cli.terminal;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Lets work end in good order when the process is told to end by Ctrl-C or SIGTERM. */
public final class StopSignal {

    private StopSignal() {}

    /**
     * Returns what {@code work} returns. If the process is told to end meanwhile, it first asks the
     * work to stop and waits until it has; the exit code is then that of the signal.
     *
     * @param stop asks the work to stop, if it has begun; called in another thread, again and again
     *     until the work is done
     */
    public static <T> T during(Supplier<T> work, Runnable stop) {
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
            // The process is ending already, and the hook with it.
            return;
        }
    }
}
