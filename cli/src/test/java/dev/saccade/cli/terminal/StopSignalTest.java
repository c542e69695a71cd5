package dev.saccade.cli.terminal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.OutputFolder;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

class StopSignalTest {

    @TempDir private Path folder;

    /** Works until asked to stop twice, and leaves a file for each end of the work. */
    public static void main(String[] args) {
        Path folder = Path.of(args[0]);
        CountDownLatch asked = new CountDownLatch(2);
        StopSignal.run(() -> work(folder, asked), asked::countDown);
    }

    /** Works in an output folder until it is halted. */
    public static final class Halting {

        private Halting() {}

        public static void main(String[] args) {
            Path folder = Path.of(args[0]);
            StopSignal.runHalting(
                    () -> {
                        try (OutputFolder out =
                                OutputFolder.create(
                                        folder.resolve("out"), "test", false, List.of())) {
                            out.write("part", new byte[1]);
                            return work(folder, new CountDownLatch(1));
                        }
                    });
        }
    }

    private static Path work(Path folder, CountDownLatch asked) {
        write(folder.resolve("begun"));
        try {
            asked.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return write(folder.resolve("ended"));
    }

    private static Path write(Path file) {
        try {
            return Files.writeString(file, "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void terminatedProcessStopsWorkInOrder() throws IOException, InterruptedException {
        assertNotEquals(0, terminate(StopSignalTest.class));
        assertTrue(Files.exists(folder.resolve("ended")));
    }

    @Test
    void terminatedProcessHaltsAndDeletesUnfinishedFolders()
            throws IOException, InterruptedException {
        assertEquals(130, terminate(Halting.class));
        assertFalse(Files.exists(folder.resolve("ended")));
        assertFalse(Files.exists(folder.resolve("out.unfinished")));
    }

    /** Terminates a program that has begun to work; returns its exit code. */
    private int terminate(Class<?> program) throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                program.getName(),
                                folder.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(folder.resolve("output").toFile())
                        .start();
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (!Files.exists(folder.resolve("begun"))) {
            String output = Files.readString(folder.resolve("output"));
            assertTrue(process.isAlive() && System.nanoTime() < deadline, output);
            Thread.sleep(10);
        }
        process.destroy();
        assertTrue(process.waitFor(1, TimeUnit.MINUTES));
        return process.exitValue();
    }

    @Test
    void undisturbedWorkIsNotStopped() {
        String result =
                StopSignal.run(
                        () -> "done",
                        () -> {
                            throw new AssertionError("asked to stop");
                        });
        assertEquals("done", result);
    }
}
