package dev.saccade.configgen;

import ai.djl.Device;

import dev.saccade.core.Count;
import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Devices;

/**
 * What a config is written for.
 *
 * @param gpu whether a GPU computes
 * @param cores of the processor
 * @param bytes of memory of what computes
 */
public record Machine(boolean gpu, int cores, long bytes) {

    /** Returns the machine at hand. */
    public static Machine here() {
        Device device = Devices.local().choose(Devices.AUTO);
        return new Machine(
                device.isGpu(),
                Runtime.getRuntime().availableProcessors(),
                DeviceMemory.of(device).map(DeviceMemory::totalBytes).orElse(0L));
    }

    @Override
    public String toString() {
        String memory = DeviceMemory.text(bytes);
        return gpu ? "a GPU with " + memory : Count.of(cores, "core") + " and " + memory;
    }
}
