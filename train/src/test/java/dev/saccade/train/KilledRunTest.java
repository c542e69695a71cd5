package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;

import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.logs.JsonLog;
import dev.saccade.train.logs.Logging;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Trains in processes of their own and ends them the hard way. */
class KilledRunTest {

    @TempDir private Path folder;

    /** Saves after every step, so that a process that is killed is probably saving. */
    private static RunConfig config(Path folder) {
        return TinyRun.config(
                folder, "epochs=30", "checkpoint.every.iterations=1", "log_interval=1");
    }

    /** Starts a run, or goes on with it; the arguments are the folder and {@code resume}. */
    public static void main(String[] args) {
        Path folder = Path.of(args[0]);
        TinyRun.Photos photos = new TinyRun.Photos(folder.resolve("photos"));
        TinyRun run = new TinyRun();
        run.hook(new Logging(new JsonLog(folder.resolve("steps-" + args[1]), 0), 1));
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(run, main)));
        Path target = folder.resolve("parts");
        if (args[1].equals("resume")) {
            run.resume(config(folder), photos, target);
        } else {
            run.start(config(folder), photos, target);
        }
    }

    private static void end(TinyRun run, Thread main) {
        run.interrupt();
        Uninterruptibles.joinUninterruptibly(main);
    }

    private Process process(String verb) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-Dai.djl.offline=true",
                        "-Dai.djl.pytorch.num_threads=1",
                        KilledRunTest.class.getName(),
                        folder.toString(),
                        verb)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve(verb + ".out").toFile())
                .start();
    }

    private void awaitSteps(Process process, String verb, int count)
            throws IOException, InterruptedException {
        Path steps = folder.resolve("steps-" + verb);
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
        while (!Files.exists(steps) || Files.readAllLines(steps).size() < count) {
            String output = Files.readString(folder.resolve(verb + ".out"));
            assertTrue(process.isAlive(), output);
            assertTrue(System.nanoTime() < deadline, output);
            Thread.sleep(10);
        }
    }

    @Test
    void resumesAfterTerminateAndKill() throws IOException, InterruptedException {
        TinyRun.Photos photos = TinyRun.Photos.in(folder.resolve("photos"));
        new TinyRun().start(config(folder), photos, folder.resolve("whole"));
        RunFolder parts = new RunFolder(folder.resolve("parts"));

        Process terminated = process("start");
        awaitSteps(terminated, "start", 5);
        terminated.destroy();
        assertTrue(terminated.waitFor(1, TimeUnit.MINUTES));
        assertNotEquals(0, terminated.exitValue());
        int before = Files.readAllLines(folder.resolve("steps-start")).size();

        Process killed = process("resume");
        awaitSteps(killed, "resume", 20);
        killed.destroyForcibly().waitFor();

        TinyRun last = new TinyRun();
        assertEquals(Outcome.FINISHED, last.resume(config(folder), photos, parts.path()));
        assertTrue(before < 100, "the first process got to the end on its own");
        assertArrayEquals(
                Files.readAllBytes(new RunFolder(folder.resolve("whole")).last()),
                Files.readAllBytes(parts.last()));
    }
}
