package dev.saccade.cli.terminal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

class StopSignalTest {

    @TempDir private Path folder;

    /** Works until asked to stop twice, and leaves a file for each end of the work. */
    public static void main(String[] args) {
        Path folder = Path.of(args[0]);
        CountDownLatch asked = new CountDownLatch(2);
        StopSignal.run(
                () -> {
                    write(folder.resolve("begun"));
                    try {
                        asked.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    return write(folder.resolve("ended"));
                },
                asked::countDown);
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
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                StopSignalTest.class.getName(),
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
        assertNotEquals(0, process.exitValue());
        assertTrue(Files.exists(folder.resolve("ended")));
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
