package dev.saccade.datasets;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Makes the threads of this package: named, daemon, owned by whoever asks for them. */
final class Workers {

    private Workers() {}

    /** Returns a pool of {@code count} threads called {@code name-1}, {@code name-2}, ... */
    static ExecutorService start(String name, int count) {
        AtomicInteger started = new AtomicInteger();
        return Executors.newFixedThreadPool(
                count,
                task -> {
                    Thread thread = new Thread(task, name + "-" + started.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
    }
}
