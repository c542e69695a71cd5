package dev.saccade.core;

import ai.djl.Device;

import com.sun.management.OperatingSystemMXBean;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Memory of a GPU, machine or container; reclaimable caches count as free. */
public record DeviceMemory(long totalBytes, long freeBytes) {

    private static final Path MACHINE = Path.of("/proc/meminfo");
    private static final Path PROCESS = Path.of("/proc/self/status");

    /** Returns the current memory of a device; empty if the memory of a GPU cannot be read. */
    public static Optional<DeviceMemory> of(Device device) {
        return device.isGpu()
                ? CudaDriver.local().memory(device.getDeviceId())
                : Optional.of(ofMachine());
    }

    private static DeviceMemory ofMachine() {
        OperatingSystemMXBean system =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        long total = system.getTotalMemorySize();
        long available = bytes(MACHINE, "MemAvailable:");
        long free =
                available == 0
                        ? system.getFreeMemorySize()
                        : Math.min(available, total - residentBytes());
        return new DeviceMemory(total, free);
    }

    /** Returns the resident set size of this process; 0 if unknown. */
    public static long residentBytes() {
        return bytes(PROCESS, "VmRSS:");
    }

    /** Returns the maximum resident set size of this process; 0 if unknown. */
    public static long peakResidentBytes() {
        return bytes(PROCESS, "VmHWM:");
    }

    @Override
    public String toString() {
        return text(totalBytes) + ", " + text(freeBytes) + " free";
    }

    /** Formats bytes as {@code 512 MiB} or {@code 3.1 GiB}. */
    public static String text(long bytes) {
        return bytes < 1L << 30
                ? (bytes >> 20) + " MiB"
                : Text.format("%.1f GiB", bytes / (double) (1 << 30));
    }

    private static long bytes(Path file, String entry) {
        if (!Files.isReadable(file)) {
            return 0;
        }
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(entry))
                    .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            return 0;
        }
    }
}
