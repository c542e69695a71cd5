package dev.saccade.core.ops;

import ai.djl.Device;
import ai.djl.pytorch.jni.JniUtils;

import dev.saccade.core.ThreadLocals;
import dev.saccade.core.ops.script.Kernels;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Divides the CPU among concurrent predictions: each of N predictions uses 1/N of the threads.
 *
 * <p>Several predictions on few threads have a higher throughput than one prediction at a time on
 * all threads, because threads of the same prediction wait for each other after every operator.
 * Fused operators return the same results for any number of threads.
 */
public final class PredictionStreams {

    /** Each stream needs memory for the activations of its images. */
    private static final int MAX_ON_CPU = 8;

    /** One prediction runs on the GPU while another one runs its CPU operators. */
    private static final int ON_GPU = 2;

    private static final AtomicInteger RUNNING = new AtomicInteger();

    private static final ThreadLocal<Boolean> IS_STREAM = ThreadLocal.withInitial(() -> false);

    private PredictionStreams() {}

    /** Returns the number of concurrent predictions for the highest throughput. */
    public static int count(Device device) {
        return device.isGpu()
                ? ON_GPU
                : Math.min(Runtime.getRuntime().availableProcessors(), MAX_ON_CPU);
    }

    /**
     * Runs a prediction on this thread's share of the CPU, which depends on the number of
     * predictions that run when it starts. Nested calls keep the share.
     */
    public static <T> T call(Device device, Supplier<T> prediction) {
        if (device.isGpu() || IS_STREAM.get() || !Kernels.status().loaded()) {
            return prediction.get();
        }
        int all = JniUtils.getNumThreads();
        int share = Math.max(1, all / RUNNING.incrementAndGet());
        try {
            setThreads(share, all);
            return ThreadLocals.call(IS_STREAM, true, prediction);
        } finally {
            RUNNING.decrementAndGet();
            setThreads(all, share);
        }
    }

    private static void setThreads(int threads, int current) {
        if (threads != current) {
            Kernels.numbers("set_threads", Kernels.TOKEN, threads);
        }
    }
}
