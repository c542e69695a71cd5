package dev.saccade.core.distributed;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/** Ranks as threads of this process. */
public final class Ranks {

    private Ranks() {}

    /** Runs a function on each rank in its own thread; returns results or errors. */
    public static List<Object> onAll(
            int worldSize, double seconds, Function<ProcessGroup, Object> work) throws Exception {
        int port = Rendezvous.freePort();
        ExecutorService threads = Executors.newFixedThreadPool(worldSize);
        try {
            List<Future<Object>> futures = new ArrayList<>();
            for (int rank = 0; rank < worldSize; rank++) {
                Rendezvous at = at(port, rank, worldSize, seconds);
                futures.add(
                        threads.submit(
                                () -> {
                                    try (ProcessGroup group = ProcessGroup.join(at)) {
                                        return ProcessGroup.with(group, () -> work.apply(group));
                                    }
                                }));
            }
            List<Object> results = new ArrayList<>();
            for (Future<Object> future : futures) {
                try {
                    results.add(future.get());
                } catch (ExecutionException e) {
                    results.add(e.getCause());
                }
            }
            return results;
        } finally {
            threads.shutdownNow();
        }
    }

    /** Runs a function on each rank and returns the results; fails if any rank fails. */
    public static <T> List<T> together(int worldSize, Class<T> type, Function<ProcessGroup, T> work)
            throws Exception {
        List<T> results = new ArrayList<>();
        for (Object result : onAll(worldSize, 30, work::apply)) {
            if (result instanceof Throwable failed) {
                throw new AssertionError("a rank has failed", failed);
            }
            results.add(type.cast(result));
        }
        return results;
    }

    static Rendezvous at(int port, int rank, int worldSize, double seconds) {
        return new Rendezvous(
                "127.0.0.1",
                port,
                rank,
                worldSize,
                rank,
                Duration.ofMillis((long) (1000 * seconds)));
    }
}
