package dev.saccade.models.segmentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Segments an image with many classes in a separate process. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "only Linux tells the peak of a process")
class PredictionMemoryTest {

    private static final int CLASSES = 150;
    private static final Size PHOTOGRAPH = new Size(1000, 1500);
    private static final Shape LOGITS = new Shape(1, CLASSES, 80, 120);
    private static final long MEBI = 1 << 20;

    @TempDir private Path folder;

    /** Writes the peak memory in MiB: for a few pixels, and for all. */
    public static void main(String[] args) throws IOException {
        label(new Size(20, 30));
        long before = peakMebibytes();
        label(PHOTOGRAPH);
        Files.write(
                Path.of(args[0]), List.of(Long.toString(before), Long.toString(peakMebibytes())));
    }

    private static void label(Size photograph) {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray logits = manager.randomNormal(0, 1, LOGITS, DataType.FLOAT32);
            SegmentationInference maps =
                    new SegmentationInference(part -> logits.duplicate(), false);
            ScoreMap one = maps.whole(manager.zeros(new Shape(1, 3, 320, 480)), photograph);
            ScoreMap two = maps.whole(manager.zeros(new Shape(1, 3, 320, 480)), photograph);
            try (MeanScoreMap mean = new MeanScoreMap(List.of(one, two.flipHorizontally()))) {
                mean.labels();
            }
        }
    }

    private static long peakMebibytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024 / MEBI)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void neverHoldsTheScoresOfAllPixels() throws IOException, InterruptedException {
        Path peaks = folder.resolve("peaks");
        Path output = folder.resolve("output");
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                "-Xmx64m",
                                "-Dai.djl.offline=true",
                                PredictionMemoryTest.class.getName(),
                                peaks.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        assertEquals(0, process.waitFor(), () -> read(output).toString());
        List<Long> held = read(peaks).stream().map(Long::valueOf).toList();
        long whole = PHOTOGRAPH.area() * CLASSES * Float.BYTES / MEBI;
        long more = held.get(1) - held.get(0);
        assertTrue(
                more < whole / 4,
                String.format(Locale.ROOT, "scores of %s MiB, held %s", whole, held));
    }

    private static List<String> read(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of(e.toString());
        }
    }
}
