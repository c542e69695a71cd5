package dev.saccade.core.ops;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.pytorch.jni.JniUtils;

import dev.saccade.core.Workers;
import dev.saccade.core.ops.script.Kernels;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.function.Supplier;

class PredictionStreamsTest {

    private int before;

    @BeforeEach
    void useSixThreads() {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        before = JniUtils.getNumThreads();
        JniUtils.setNumThreads(6);
    }

    @AfterEach
    void restoreThreads() {
        if (before > 0) {
            JniUtils.setNumThreads(before);
        }
    }

    private static <T> T predict(Supplier<T> body) {
        return PredictionStreams.call(Device.cpu(), body);
    }

    @Test
    void concurrentPredictionsShareTheThreads() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        try (Workers other = new Workers("other", 1)) {
            Callable<Void> running =
                    () ->
                            predict(
                                    () -> {
                                        started.countDown();
                                        await(ended);
                                        return null;
                                    });
            Future<Void> first = other.submit(running);
            started.await();
            assertEquals(3, predict(JniUtils::getNumThreads));
            assertEquals(List.of(3, 3), predict(() -> List.of(nested(), nested())));
            assertThrows(IllegalStateException.class, () -> predict(this::fail));
            assertEquals(6, JniUtils.getNumThreads());
            ended.countDown();
            first.get();
        }
        assertEquals(6, predict(JniUtils::getNumThreads));
    }

    private static int nested() {
        return predict(JniUtils::getNumThreads);
    }

    private int fail() {
        throw new IllegalStateException();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
