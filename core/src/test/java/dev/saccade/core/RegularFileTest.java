package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RegularFileTest {

    @TempDir Path folder;

    @Test
    void readsFilesAndLinks() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[] {1, 2, 3});
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        assertArrayEquals(new byte[] {1, 2, 3}, RegularFile.read(file, 3));
        assertArrayEquals(new byte[] {1, 2, 3}, RegularFile.read(link, 100));
        try (InputStream stream = RegularFile.open(link)) {
            assertArrayEquals(new byte[] {1, 2, 3}, stream.readAllBytes());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/dev/zero", "/dev/random", "/dev/null"})
    void rejectsDevices(String device) {
        Path file = Path.of(device);
        assertRefused(file + ": is a pipe, a socket or a device", () -> RegularFile.open(file));
        assertRefused(file + ": is a", () -> RegularFile.read(file, 10));
    }

    @Test
    void rejectsPipes() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        assertRefused("expected a regular file", () -> RegularFile.open(pipe));
        assertRefused("expected a regular file", () -> RegularFile.read(pipe, 10));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void doesNotOpenEmptyFiles() throws IOException {
        Path empty = Files.createFile(folder.resolve("empty"));
        Path made = Files.createSymbolicLink(folder.resolve("made"), Path.of("/proc/self/status"));
        for (Path file : List.of(empty, made)) {
            assertArrayEquals(new byte[0], RegularFile.read(file, 1 << 20));
            try (InputStream stream = RegularFile.open(file)) {
                assertEquals(-1, stream.read());
            }
        }
    }

    @Test
    void limitsTheNumberOfBytes() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[11]);
        assertRefused(
                file + ": got 11 bytes, expected at most 10", () -> RegularFile.read(file, 10));
        byte[] content = new byte[100];
        ByteArrayInputStream stream = new ByteArrayInputStream(content);
        assertRefused(
                "stream: got more than 10 bytes", () -> RegularFile.read("stream", stream, 10));
        assertTrue(stream.available() > 80, "the rest is not read");
        assertArrayEquals(
                content, RegularFile.read("stream", new ByteArrayInputStream(content), 100));
    }

    @Test
    void throwsOtherErrors() {
        Path missing = folder.resolve("missing");
        assertThrows(NoSuchFileException.class, () -> RegularFile.open(missing));
        assertThrows(IOException.class, () -> RegularFile.read(folder, 1 << 20));
    }

    private static void assertRefused(String message, Executable reading) {
        SaccadeException thrown = assertThrows(SaccadeException.class, reading);
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertTrue(thrown.getMessage().contains(message), thrown.getMessage());
    }
}
