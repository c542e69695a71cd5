package dev.saccade.eval;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.base.Throwables;
import com.google.common.util.concurrent.ThreadFactoryBuilder;

import dev.saccade.core.SaccadeException;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/** Threads that share tasks among them; one thread hands tasks out. */
final class Workers implements AutoCloseable {

    private final int threads;
    private final ExecutorService executor;
    private final Queue<Future<?>> started = new ArrayDeque<>();

    Workers(int threads) {
        checkArgument(threads > 0, "at least one thread expected, got %s", threads);
        this.threads = threads;
        this.executor =
                Executors.newFixedThreadPool(
                        threads,
                        new ThreadFactoryBuilder()
                                .setNameFormat("saccade-eval-%d")
                                .setDaemon(true)
                                .build());
    }

    /**
     * Runs the tasks 0 to {@code tasks - 1}, each once, and waits for them.
     *
     * @param worker gives each thread what runs a task, with buffers of its own
     */
    void run(int tasks, Supplier<IntConsumer> worker) {
        AtomicInteger next = new AtomicInteger();
        List<Future<?>> futures = new ArrayList<>();
        for (int i = 0; i < Math.min(threads, tasks); i++) {
            futures.add(
                    executor.submit(
                            () -> {
                                IntConsumer body = worker.get();
                                for (int t = next.getAndIncrement();
                                        t < tasks;
                                        t = next.getAndIncrement()) {
                                    body.accept(t);
                                }
                            }));
        }
        futures.forEach(Workers::await);
    }

    /** Starts a task on a thread; waits first while every thread has one. */
    void start(Runnable task) {
        if (started.size() == threads) {
            await(started.remove());
        }
        started.add(executor.submit(task));
    }

    /** Waits for the tasks that were started. */
    void finish() {
        while (!started.isEmpty()) {
            await(started.remove());
        }
    }

    private static void await(Future<?> future) {
        try {
            future.get();
        } catch (ExecutionException e) {
            Throwables.throwIfUnchecked(e.getCause());
            throw SaccadeException.internal(e.getCause(), "evaluation failed");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw SaccadeException.internal(e, "evaluation was interrupted");
        }
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
