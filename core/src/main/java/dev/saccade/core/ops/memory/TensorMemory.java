package dev.saccade.core.ops.memory;

import ai.djl.Device;

import dev.saccade.core.ops.script.Kernels;

import java.util.Optional;

/**
 * What tensors hold on a device, as the allocators of libtorch tell it: all of a GPU's, and on the
 * CPU those of 64 KiB and more.
 *
 * @param bytes of tensors that are alive
 * @param peakBytes the most of them at a time since the count began
 * @param reservedBytes what libtorch has of the GPU, what it keeps for tensors to come included; on
 *     the CPU what tensors hold
 * @param failedBytes the last request that the GPU could not serve, 0 for none
 */
public record TensorMemory(long bytes, long peakBytes, long reservedBytes, long failedBytes) {

    private static final ThreadLocal<Boolean> FOLLOWED =
            ThreadLocal.withInitial(TensorMemory::follow);

    /** Has this thread followed; what it answers is whether that was so before. */
    private static boolean follow() {
        Kernels.number("follow_memory");
        return Kernels.number("follow_memory") > 0;
    }

    /** Returns the use of this moment; nothing where the fused operators are not loaded. */
    public static Optional<TensorMemory> of(Device device) {
        return ask(device, false);
    }

    /**
     * Begins the count of the peak anew. On GPUs it counts what the threads that have called this
     * make, and the gradients that they ask for.
     */
    public static void resetPeak(Device device) {
        ask(device, true);
    }

    /** Returns whether what this thread makes on GPUs is counted. */
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
