package dev.saccade.configgen;

import ai.djl.Device;

import dev.saccade.core.Count;
import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Devices;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Autocast;

/**
 * The machine that a config is written for.
 *
 * @param bytes GPU memory, else main memory
 * @param fastBfloat16 whether the CPU multiplies bfloat16 faster than float32; false with a GPU
 */
public record Machine(boolean gpu, int cores, long bytes, boolean fastBfloat16) {

    public static Machine current() {
        Device device = Devices.local().choose(Devices.AUTO);
        return new Machine(
                device.isGpu(),
                Runtime.getRuntime().availableProcessors(),
                DeviceMemory.of(device).map(DeviceMemory::totalBytes).orElse(0L),
                !device.isGpu() && Autocast.isFastOnCpu(Precision.BFLOAT16));
    }

    @Override
    public String toString() {
        String memory = DeviceMemory.text(bytes);
        return gpu ? "a GPU with " + memory : Count.of(cores, "core") + " and " + memory;
    }
}
