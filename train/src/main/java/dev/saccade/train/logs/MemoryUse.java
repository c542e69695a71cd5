package dev.saccade.train.logs;

import ai.djl.ndarray.NDManager;

import dev.saccade.core.DeviceMemory;
import dev.saccade.core.ops.memory.TensorMemory;

/**
 * Memory of the process.
 *
 * @param residentBytes resident set size; 0 if unknown, as on systems other than Linux
 * @param peakTensorBytes peak on the device since the run began; 0 if not tracked
 * @param arrays number of arrays in DJL's managers
 */
public record MemoryUse(long residentBytes, long peakTensorBytes, int arrays) {

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
