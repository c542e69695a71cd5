package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;

class WorkersTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7})
    void returnsResultsInOrder(int threads) {
        CountDownLatch secondIsDone = new CountDownLatch(threads > 1 ? 1 : 0);
        List<Callable<Integer>> tasks = new ArrayList<>();
        tasks.add(
                () -> {
                    secondIsDone.await();
                    return 0;
                });
        tasks.add(
                () -> {
                    secondIsDone.countDown();
                    return 1;
                });
        IntStream.range(2, 20).forEach(i -> tasks.add(() -> i));
        List<Integer> results = new ArrayList<>();
        try (Workers workers = new Workers("test", threads)) {
            workers.run(tasks, results::add);
        }
        assertEquals(IntStream.range(0, 20).boxed().toList(), results);
    }

    @Test
    void runsEachTaskOnceWithBuffersPerThread() {
        AtomicIntegerArray done = new AtomicIntegerArray(100);
        AtomicInteger buffers = new AtomicInteger();
        try (Workers workers = new Workers("test", 3)) {
            workers.run(
                    100,
                    () -> {
                        buffers.incrementAndGet();
                        return done::incrementAndGet;
                    });
        }
        assertTrue(IntStream.range(0, 100).allMatch(i -> done.get(i) == 1), done.toString());
        assertEquals(3, buffers.get());
    }

    @Test
    void startsAtMostOneTaskPerThread() {
        AtomicInteger finished = new AtomicInteger();
        try (Workers workers = new Workers("test", 2)) {
            for (int i = 0; i < 10; i++) {
                workers.start(finished::incrementAndGet);
                assertTrue(finished.get() >= i - 1, finished + " of " + i);
            }
            workers.finish();
            assertEquals(10, finished.get());
        }
    }

    @Test
    void rethrowsExceptionsOfTasks() {
        IllegalStateException unchecked = new IllegalStateException("no");
        try (Workers workers = new Workers("test", 2)) {
            List<Callable<Integer>> tasks =
                    List.of(
                            () -> {
                                throw unchecked;
                            });
            assertSame(
                    unchecked,
                    assertThrows(
                            IllegalStateException.class, () -> workers.run(tasks, result -> {})));
            List<Callable<Integer>> checked =
                    List.of(
                            () -> {
                                throw new IOException("gone");
                            });
            SaccadeException thrown =
                    assertThrows(SaccadeException.class, () -> workers.run(checked, result -> {}));
            assertEquals("test failed: gone", thrown.getMessage());
        }
    }

    @Test
    void closeStopsAllThreads() throws InterruptedException {
        List<Thread> seen = new ArrayList<>();
        try (Workers workers = new Workers("left-over", 1)) {
            workers.start(() -> seen.add(Thread.currentThread()));
            workers.finish();
            assertEquals("left-over-0", seen.get(0).getName());
        }
        seen.get(0).join(10_000);
        assertFalse(seen.get(0).isAlive());
    }

    @Test
    void rejectsZeroThreads() {
        assertEquals(
                "threads: got 0, expected at least 1",
                assertThrows(IllegalArgumentException.class, () -> new Workers("test", 0))
                        .getMessage());
    }
}
