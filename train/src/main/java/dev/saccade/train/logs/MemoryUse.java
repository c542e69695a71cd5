package dev.saccade.train.logs;

import ai.djl.ndarray.NDManager;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What the process holds.
 *
 * @param residentBytes resident set size; 0 where the system does not tell (it does on Linux)
 * @param arrays arrays that DJL's managers hold
 */
public record MemoryUse(long residentBytes, int arrays) {

    private static final Path STATUS = Path.of("/proc/self/status");

    /**
     * Returns the use of this moment.
     *
     * @param manager any manager of the engine
     */
    public static MemoryUse now(NDManager manager) {
        NDManager root = manager;
        while (root.getParentManager() != null) {
            root = root.getParentManager();
        }
        return new MemoryUse(bytes("VmRSS:"), root.getManagedArrays().size());
    }

    /** Returns the most that the process has held so far; 0 where the system does not tell. */
    public static long peakBytes() {
        return bytes("VmHWM:");
    }

    private static long bytes(String entry) {
        if (!Files.isReadable(STATUS)) {
            return 0;
        }
        try (Stream<String> lines = Files.lines(STATUS)) {
            return lines.filter(line -> line.startsWith(entry))
                    .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            return 0;
        }
    }
}
