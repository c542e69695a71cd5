package dev.saccade.core.ops.memory;

import ai.djl.Device;

import dev.saccade.core.ops.script.Kernels;

import java.util.Optional;

/**
 * Memory of tensors on a device, counted by its allocator. On a CPU, excludes tensors below 64 KiB.
 *
 * @param bytes memory of live tensors
 * @param peakBytes maximum since the last {@link #resetPeak}
 * @param reservedBytes GPU memory held by libtorch, including its cache; on a CPU {@code bytes}
 * @param failedBytes size of the last failed GPU allocation since {@link #resetPeak}, or 0
 */
public record TensorMemory(long bytes, long peakBytes, long reservedBytes, long failedBytes) {

    private static final ThreadLocal<Boolean> FOLLOWED =
            ThreadLocal.withInitial(TensorMemory::follow);

    /** Starts counting GPU memory of this thread; returns whether it is counted. */
    private static boolean follow() {
        Kernels.number("follow_memory");
        return Kernels.number("follow_memory") > 0;
    }

    /** Returns the memory use; empty without fused operators or, on GPUs, under a profiler. */
    public static Optional<TensorMemory> of(Device device) {
        return ask(device, false);
    }

    /**
     * Resets the peak. On GPUs, the numbers change only when a thread that uses this class, or its
     * backward pass, allocates or frees memory.
     */
    public static void resetPeak(Device device) {
        ask(device, true);
    }

    static boolean isFollowed() {
        return FOLLOWED.get();
    }

    private static Optional<TensorMemory> ask(Device device, boolean restart) {
        if (!Kernels.status().loaded() || (device.isGpu() && !isFollowed())) {
            return Optional.empty();
        }
        double[] use =
                device.isGpu()
                        ? Kernels.numbers("gpu_memory", device.getDeviceId(), restart)
                        : Kernels.numbers("processor_memory", restart);
        return Optional.of(
                device.isGpu()
                        ? new TensorMemory(
                                (long) use[0], (long) use[1], (long) use[2], (long) use[3])
                        : new TensorMemory((long) use[0], (long) use[1], (long) use[0], 0));
    }
}
