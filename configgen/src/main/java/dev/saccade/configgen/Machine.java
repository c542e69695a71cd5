package dev.saccade.configgen;

import ai.djl.Device;

import dev.saccade.core.Count;
import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Devices;

/** The machine that a config is written for; {@code bytes} is GPU memory, else main memory. */
public record Machine(boolean gpu, int cores, long bytes) {

    public static Machine current() {
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
