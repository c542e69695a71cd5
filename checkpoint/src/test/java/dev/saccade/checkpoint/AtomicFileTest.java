package dev.saccade.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

class AtomicFileTest {

    @TempDir Path folder;

    @Test
    void replacesOldContent() throws IOException {
        Path file = Files.writeString(folder.resolve("a"), "old and longer");

        AtomicFile.write(file, channel -> channel.write(bytes("new")));

        assertEquals("new", Files.readString(file));
        assertEquals(List.of("a"), names());
    }

    @Test
    void fullDiskKeepsTheOldContent() throws IOException {
        Path file = Files.writeString(folder.resolve("a"), "old");

        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                AtomicFile.write(
                                        file,
                                        channel -> {
                                            channel.write(bytes("half of the n"));
                                            throw new IOException("No space left on device");
                                        }));

        assertEquals(SaccadeException.Kind.IO, e.kind());
        assertEquals(
                file
                        + ": cannot be written: No space left on device; free disk space, or write"
                        + " to another disk",
                e.getMessage());
        assertEquals("old", Files.readString(file));
        assertEquals(List.of("a"), names());
    }

    @Test
    void concurrentWritersDoNotInterfere() throws IOException {
        Path file = folder.resolve("a");

        AtomicFile.write(
                file,
                channel -> {
                    channel.write(bytes("first, "));
                    AtomicFile.write(file, "second");
                    channel.write(bytes("to its end"));
                });

        assertEquals("first, to its end", Files.readString(file));
        assertEquals(List.of("a"), names());
    }

    @Test
    void removesOnlyTemporaryFilesOfOneFile() throws IOException {
        String id = "0b0c96f1-9ed2-4a2d-a5a1-000000000000";
        String left = ".a." + id + ".tmp";
        for (String name : List.of(left, "a", ".b." + id + ".tmp", ".a.b." + id + ".tmp")) {
            Files.writeString(folder.resolve(name), "half of something");
        }

        AtomicFile.removeTemporaryFilesOf(folder.resolve("a"));

        assertEquals(Set.of("a", ".b." + id + ".tmp", ".a.b." + id + ".tmp"), Set.copyOf(names()));
    }

    @Test
    void removesOnlyTemporaryFiles() throws IOException {
        String left = ".a.0b0c96f1-9ed2-4a2d-a5a1-000000000000.tmp";
        for (String name : List.of(left, "a", ".a.tmp", "0b0c96f1.tmp")) {
            Files.writeString(folder.resolve(name), "half of something");
        }

        AtomicFile.removeTemporaryFiles(folder);

        assertEquals(Set.of("a", ".a.tmp", "0b0c96f1.tmp"), Set.copyOf(names()));
    }

    @Test
    void keepsTheOldContentUnderAnotherName() throws IOException {
        Path file = Files.writeString(folder.resolve("a"), "old");
        Path kept = Files.writeString(folder.resolve("b"), "older");

        AtomicFile.write(file, Optional.of(kept), channel -> channel.write(bytes("new")));

        assertEquals("new", Files.readString(file));
        assertEquals("old", Files.readString(kept));
        assertEquals(Set.of("a", "b"), Set.copyOf(names()));
    }

    @Test
    void reportsAMissingFolder() {
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> AtomicFile.write(folder.resolve("no/a"), channel -> {}));

        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(e.getMessage().contains("does not exist"), e.getMessage());
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    private static ByteBuffer bytes(String text) {
        return StandardCharsets.UTF_8.encode(text);
    }
}
