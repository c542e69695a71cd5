package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.SaccadeException;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.checkpoint.RunLock;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Scanner;

class RunLockTest {

    @TempDir private Path path;
    private RunFolder folder;

    @BeforeEach
    void makeFolder() throws IOException {
        folder = new RunFolder(path);
        Files.createDirectories(folder.checkpoints());
    }

    /** Takes the lock of a folder and holds it until it is killed. */
    public static void main(String[] args) {
        RunLock.runLocked(
                new RunFolder(Path.of(args[0])),
                () -> {
                    System.out.println("locked");
                    return new Scanner(System.in, UTF_8).nextLine();
                });
    }

    private ProcessBuilder process() {
        return new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                RunLockTest.class.getName(),
                path.toString());
    }

    @Test
    void namesTheOtherProcessAndUnlocksAfterItsDeath() throws IOException, InterruptedException {
        Process other = process().redirectError(ProcessBuilder.Redirect.DISCARD).start();
        assertEquals("locked", other.inputReader().readLine());

        SaccadeException e =
                assertThrows(SaccadeException.class, () -> RunLock.runLocked(folder, () -> "in"));

        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(
                e.getMessage().contains("process " + other.pid() + "@"), "who: " + e.getMessage());
        assertTrue(e.getMessage().contains("has been training here since 20"), e.getMessage());

        other.destroyForcibly().waitFor();
        assertEquals("in", RunLock.runLocked(folder, () -> "in"));
    }

    /** The lock of a process on a file ends with any of its descriptors of that file. */
    @Test
    void failedLockInTheSameProcessKeepsTheLock() {
        String output =
                RunLock.runLocked(
                        folder,
                        () -> {
                            assertThrows(
                                    SaccadeException.class,
                                    () -> RunLock.runLocked(folder, () -> "in"));
                            assertThrows(SaccadeException.class, folder::requireEmpty);
                            return outputOfAnother();
                        });
        assertTrue(output.contains("has been training here since"), output);
    }

    /** Returns what a process says that tries to take the folder. */
    private String outputOfAnother() {
        try {
            Process other = process().redirectErrorStream(true).start();
            other.getOutputStream().close();
            return new String(other.getInputStream().readAllBytes(), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void rejectsANewRunInAFolderInUse() {
        SaccadeException meanwhile =
                RunLock.runLocked(
                        folder, () -> assertThrows(SaccadeException.class, folder::requireEmpty));
        assertTrue(meanwhile.getMessage().contains("training here since"), meanwhile.getMessage());
        SaccadeException e = assertThrows(SaccadeException.class, folder::requireEmpty);
        assertTrue(e.getMessage().contains("not empty"), e.getMessage());
    }

    @Test
    void removesIncompleteFilesOfAKilledTraining() throws IOException {
        Path left =
                Files.writeString(
                        folder.checkpoints()
                                .resolve(
                                        ".last.safetensors.0b0c96f1-9ed2-4a2d-a5a1-000000000000.tmp"),
                        "half of it");

        assertFalse(RunLock.runLocked(folder, () -> Files.exists(left)));
    }
}
