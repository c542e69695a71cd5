package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

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

    /**
     * Does tasks on threads that end with them; hands their results on in the order of the tasks.
     */
    static <T> void run(
            String name, int count, List<Callable<T>> tasks, Consumer<? super T> results) {
        ExecutorService threads = start(name, count);
        try {
            List<Future<T>> running = tasks.stream().map(threads::submit).toList();
            for (Future<T> task : running) {
                results.accept(task.get());
            }
        } catch (ExecutionException e) {
            throw SaccadeException.internal(e, "%s failed: %s", name, e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw SaccadeException.io(e, "%s was interrupted", name);
        } finally {
            threads.shutdownNow();
        }
    }
}
