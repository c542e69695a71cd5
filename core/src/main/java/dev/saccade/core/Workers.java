package dev.saccade.core;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.base.Throwables;
import com.google.common.util.concurrent.ThreadFactoryBuilder;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/** A pool of threads. Methods that wait for a task rethrow its exception. */
public final class Workers implements AutoCloseable {

    private final String name;
    private final int threads;
    private final ExecutorService executor;
    private final Queue<Future<?>> started = new ArrayDeque<>();

    /**
     * Creates a pool; threads start on demand and are called {@code name-0}, {@code name-1}, ...
     */
    public Workers(String name, int threads) {
        checkArgument(threads > 0, "threads: got %s, expected at least 1", threads);
        this.name = name;
        this.threads = threads;
        this.executor =
                Executors.newFixedThreadPool(
                        threads,
                        new ThreadFactoryBuilder()
                                .setNameFormat(name + "-%d")
                                .setDaemon(true)
                                .build());
    }

    /** Submits a task; {@link #finish} does not wait for it. */
    public <T> Future<T> submit(Callable<T> task) {
        return executor.submit(task);
    }

    /** Runs tasks in the pool; calls {@code results} in this thread, in the order of the tasks. */
    public <T> void run(List<Callable<T>> tasks, Consumer<? super T> results) {
        List<Future<T>> running = tasks.stream().map(executor::submit).toList();
        running.forEach(task -> results.accept(await(task)));
    }

    /** Runs the tasks 0 to {@code tasks - 1} and waits. Each thread gets its own {@code worker}. */
    public void run(int tasks, Supplier<IntConsumer> worker) {
        AtomicInteger next = new AtomicInteger();
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < Math.min(threads, tasks); i++) {
            running.add(executor.submit(() -> runAll(next, tasks, worker.get())));
        }
        running.forEach(this::await);
    }

    private static void runAll(AtomicInteger next, int tasks, IntConsumer body) {
        for (int t = next.getAndIncrement(); t < tasks; t = next.getAndIncrement()) {
            body.accept(t);
        }
    }

    /** Starts a task. If every thread already has a started task, first waits for the oldest. */
    public void start(Runnable task) {
        if (started.size() == threads) {
            await(started.remove());
        }
        started.add(executor.submit(task));
    }

    /** Waits for the {@linkplain #start started} tasks. */
    public void finish() {
        while (!started.isEmpty()) {
            await(started.remove());
        }
    }

    private <T> T await(Future<T> task) {
        try {
            return task.get();
        } catch (ExecutionException e) {
            Throwables.throwIfUnchecked(e.getCause());
            throw SaccadeException.internal(
                    e.getCause(), "%s failed: %s", name, e.getCause().getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw SaccadeException.io(e, "%s was interrupted", name);
        }
    }

    /** Interrupts the threads and waits for them, at most a minute. */
    @Override
    public void close() {
        executor.shutdownNow();
        try {
            executor.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
