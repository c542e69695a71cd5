package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.memory.Scope;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/** Runs the backward pass of a deep stack of wide blocks in a separate process. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "only Linux tells the peak of a process")
class ActivationCheckpointingMemoryTest {

    private static final int BLOCKS = 12;
    private static final int CHANNELS = 64;

    /** 4 MiB; blocks use four times as many channels internally. */
    private static final Shape MAP = new Shape(1, 128, 128, CHANNELS);

    private static final long MEBI = 1 << 20;

    @TempDir private Path folder;

    /** Prints the peak memory in MiB: initially, with and without checkpointing. */
    public static void main(String[] args) throws IOException {
        List<Mlp> blocks = new ArrayList<>();
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            for (int i = 0; i < BLOCKS; i++) {
                Mlp block = new Mlp(CHANNELS, 4 * CHANNELS);
                block.initialize(manager, i);
                blocks.add(block);
            }
            long[] peaks = new long[3];
            backward(blocks.subList(0, 1), manager, true);
            peaks[0] = peakMebibytes();
            backward(blocks, manager, true);
            peaks[1] = peakMebibytes();
            backward(blocks, manager, false);
            peaks[2] = peakMebibytes();
            Files.write(Path.of(args[0]), LongStream.of(peaks).mapToObj(Long::toString).toList());
        }
    }

    private static void backward(List<Mlp> blocks, NDManager manager, boolean recompute) {
        List<NDArray> by =
                blocks.stream()
                        .flatMap(block -> block.namedParameters().values().stream())
                        .map(parameter -> parameter.getArray())
                        .toList();
        Scope.run(
                () -> {
                    NDArray x = manager.ones(MAP);
                    Autograd.gradients(() -> Scope.array(() -> loss(blocks, x, recompute)), by);
                });
    }

    private static NDArray loss(List<Mlp> blocks, NDArray x, boolean recompute) {
        NDArray y = x;
        for (Mlp block : blocks) {
            y = recompute ? ActivationCheckpointing.run(block, y) : block.apply(y);
        }
        return y.square().mean();
    }

    private static long peakMebibytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024 / MEBI)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void keepsOneMapPerBlock() throws IOException, InterruptedException {
        Path peaks = folder.resolve("peaks");
        Path output = folder.resolve("output");
        ProcessBuilder builder =
                new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-Xmx64m",
                        "-Dai.djl.offline=true",
                        "-Dai.djl.pytorch.num_threads=1",
                        ActivationCheckpointingMemoryTest.class.getName(),
                        peaks.toString());
        // Makes the peak count arrays, not unused gaps of glibc's heap.
        builder.environment().put("MALLOC_MMAP_THRESHOLD_", Long.toString(MEBI));
        Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
        assertEquals(0, process.waitFor(), () -> read(output).toString());
        List<Long> held = read(peaks).stream().map(Long::valueOf).toList();
        long recomputing = held.get(1) - held.get(0);
        long plain = held.get(2) - held.get(0);
        long map = MAP.size() * Float.BYTES / MEBI;
        assertTrue(plain > 6 * map * BLOCKS, "hidden maps before and after GELU: " + held);
        assertTrue(recomputing < 2 * map * BLOCKS, "the input of every block: " + held);
    }

    private static List<String> read(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of(e.toString());
        }
    }
}
