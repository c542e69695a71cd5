package dev.saccade.train;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.distributed.Rendezvous;
import dev.saccade.core.ops.script.Kernels;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/** Ranks that are threads of this process. */
final class Ranks {

    private Ranks() {}

    /** Does something on each rank; returns what came of it by rank, or the error. */
    static List<Object> together(int worldSize, Function<ProcessGroup, Object> work) {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        ExecutorService threads = Executors.newFixedThreadPool(worldSize);
        try {
            int port = Rendezvous.freePort();
            List<Future<Object>> futures = new ArrayList<>();
            for (int rank = 0; rank < worldSize; rank++) {
                Rendezvous at =
                        new Rendezvous(
                                "127.0.0.1", port, rank, worldSize, 0, Duration.ofSeconds(60));
                futures.add(
                        threads.submit(
                                () -> {
                                    try (ProcessGroup group = ProcessGroup.join(at)) {
                                        return work.apply(group);
                                    }
                                }));
            }
            List<Object> results = new ArrayList<>();
            for (Future<Object> future : futures) {
                results.add(resultOf(future));
            }
            return results;
        } finally {
            threads.shutdownNow();
        }
    }

    private static Object resultOf(Future<Object> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
