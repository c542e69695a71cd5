package dev.saccade.models.checkpoint;

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
import java.util.stream.Stream;

class AtomicFileTest {

    @TempDir Path folder;

    @Test
    void theNewContentReplacesTheOld() throws IOException {
        Path file = Files.writeString(folder.resolve("a"), "old and longer");

        AtomicFile.write(file, channel -> channel.write(bytes("new")));

        assertEquals("new", Files.readString(file));
        assertEquals(List.of("a"), names());
    }

    @Test
    void aFullDiskLeavesTheOldContent() throws IOException {
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
        assertTrue(e.getMessage().contains("No space left on device"), e.getMessage());
        assertEquals("old", Files.readString(file));
        assertEquals(List.of("a"), names());
    }

    @Test
    void whatAKilledRunLeftIsOverwritten() throws IOException {
        Files.writeString(folder.resolve(".a.tmp"), "half of something much longer");

        AtomicFile.write(folder.resolve("a"), channel -> channel.write(bytes("new")));

        assertEquals("new", Files.readString(folder.resolve("a")));
        assertEquals(List.of("a"), names());
    }

    @Test
    void aMissingFolderIsNamed() {
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> AtomicFile.write(folder.resolve("no/a"), channel -> {}));

        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(e.getMessage().contains("no folder"), e.getMessage());
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
