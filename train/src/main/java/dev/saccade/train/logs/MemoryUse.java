package dev.saccade.train.logs;

import ai.djl.ndarray.NDManager;

import dev.saccade.core.DeviceMemory;
import dev.saccade.core.ops.memory.TensorMemory;

/**
 * What the process holds.
 *
 * @param residentBytes resident set size; 0 where the system does not tell (it does on Linux)
 * @param peakTensorBytes the most that tensors have held at a time on the device since the run
 *     began; 0 where the fused operators, which count it, are not loaded
 * @param arrays arrays that DJL's managers hold
 */
public record MemoryUse(long residentBytes, long peakTensorBytes, int arrays) {

    /**
     * Returns the use of this moment.
     *
     * @param manager any manager of the device
     */
    public static MemoryUse now(NDManager manager) {
        NDManager root = manager;
        while (root.getParentManager() != null) {
            root = root.getParentManager();
        }
        return new MemoryUse(
                DeviceMemory.residentBytes(),
                TensorMemory.of(manager.getDevice()).map(TensorMemory::peakBytes).orElse(0L),
                root.getManagedArrays().size());
    }
}
