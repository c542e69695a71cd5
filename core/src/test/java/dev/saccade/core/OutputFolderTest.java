package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The output folder is empty, the old one or the new one, and inputs are kept. */
class OutputFolderTest {

    private static final String MARKER = ".saccade_test";

    @TempDir private Path folder;
    private Path source;
    private Path out;

    @BeforeEach
    void createSource() throws IOException {
        source = Files.createDirectory(folder.resolve("source"));
        Files.writeString(source.resolve("a.png"), "a");
        out = folder.resolve("out");
    }

    private OutputFolder create(Path path, boolean overwrite) {
        return OutputFolder.create(path, "test", overwrite, List.of(source));
    }

    private void write(Path path, String labels) {
        try (OutputFolder created = create(path, true)) {
            created.add("images/a.png", source.resolve("a.png"));
            created.write("labels.json", labels.getBytes(UTF_8));
            created.finish();
        }
    }

    private String labels() throws IOException {
        return Files.readString(out.resolve("labels.json"));
    }

    private static Set<String> names(Path of) throws IOException {
        try (Stream<Path> content = Files.list(of)) {
            return content.map(path -> path.getFileName().toString()).collect(Collectors.toSet());
        }
    }

    private String refusal(Path path, boolean overwrite) {
        return assertThrows(SaccadeException.class, () -> create(path, overwrite)).getMessage();
    }

    @Test
    void onlyOverwriteReplacesAFolder() throws IOException {
        write(out, "old");
        assertTrue(refusal(out, false).contains("out: is not an empty folder"));
        assertEquals("old", labels());
        Files.writeString(out.resolve("more"), "");
        write(out, "new");
        assertEquals("new", labels());
        assertEquals(Set.of(MARKER, "images", "labels.json"), names(out));
        assertEquals(Set.of("source", "out"), names(folder));
        assertEquals("a", Files.readString(source.resolve("a.png")));
    }

    @Test
    void onlyFoldersOfTheSameWriterAreReplaced() throws IOException {
        Path photos = Files.createDirectory(folder.resolve("photos"));
        Path photo = Files.writeString(photos.resolve("b.png"), "b");
        assertTrue(refusal(photos, true).contains("photos: cannot be replaced"));
        assertTrue(refusal(photo, true).contains("b.png: cannot be replaced"));
        Files.createFile(photos.resolve(".saccade_other"));
        assertTrue(refusal(photos, true).contains("no file .saccade_test"));
        assertEquals("b", Files.readString(photo));
    }

    @Test
    void deletesUnfinishedFilesAndKeepsOldOnes() throws IOException {
        write(out, "old");
        try (OutputFolder created = create(out, true)) {
            created.write("labels.json", new byte[1]);
            assertEquals("old", labels());
        }
        assertEquals("old", labels());
        assertEquals(Set.of("source", "out"), names(folder));
    }

    @Test
    void onlyOverwriteReplacesUnfinishedFiles() throws IOException {
        Path left = Files.createDirectories(folder.resolve("out.unfinished/images"));
        assertTrue(refusal(out, false).contains("out.unfinished: is not an empty folder"));
        assertTrue(refusal(out, true).contains("out.unfinished: cannot be replaced"));
        assertTrue(Files.exists(left));
        Files.createFile(left.resolveSibling(MARKER));
        assertTrue(refusal(out, false).contains("process that wrote this folder was killed"));
        write(out, "new");
        assertEquals(Set.of("source", "out"), names(folder));
    }

    @Test
    void neverReplacesAFolderInUse() throws IOException {
        Path marker = folder.resolve("out.unfinished").resolve(MARKER);
        try (OutputFolder created = create(out, false)) {
            assertTrue(refusal(out, true).contains("another process is writing this folder"));
            created.finish();
        }
        Files.createDirectories(marker.getParent());
        try (FileChannel channel =
                        FileChannel.open(
                                marker, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            assertTrue(lock.isValid());
            assertTrue(refusal(out, true).contains("another process is writing this folder"));
        }
        assertTrue(Files.exists(marker));
    }

    @Test
    void fillsEmptyFoldersAndLinksToThem() throws IOException {
        Path disk = Files.createDirectory(folder.resolve("disk"));
        Files.createSymbolicLink(out, disk);
        try (OutputFolder created = create(out, false);
                OutputFolder joined = OutputFolder.join(out)) {
            joined.write("b", new byte[1]);
            created.finish();
        }
        assertTrue(Files.isSymbolicLink(out));
        assertEquals(Set.of(MARKER, "b"), names(disk));
    }

    @Test
    void overwritingALinkInTheFolderKeepsItsTarget() throws IOException {
        write(out, "old");
        Files.createSymbolicLink(out.resolve("link"), source);
        write(out, "new");
        assertEquals(Set.of("a.png"), names(source));
    }

    @Test
    void inputsAndTheWorkingDirectoryAreNeverReplaced() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), source);
        for (Path path : List.of(source.resolve("new"), link.resolve("new/out"))) {
            assertTrue(refusal(path, true).contains("is in the input folder"));
        }
        Path around = folder.resolve("out/..");
        Files.createDirectory(out);
        for (Path path : List.of(source, link, folder, around)) {
            assertTrue(refusal(path, true).contains("source: is in the output folder"));
        }
        for (Path path : List.of(Path.of(""), Path.of(".."), Path.of("/"))) {
            assertTrue(refusal(path, true).contains("working directory: is in the output folder"));
        }
        assertEquals(Set.of("a.png"), names(source));
    }

    @Test
    void writesFilesCompletelyOrNotAtAll() throws IOException {
        try (OutputFolder created = create(out, false)) {
            created.write("a", new byte[1]);
            String name = "b".repeat(300);
            assertThrows(SaccadeException.class, () -> created.write(name, new byte[1]));
            created.finish();
        }
        assertEquals(Set.of(MARKER, "a"), names(out));
        assertFalse(Files.exists(folder.resolve("out.unfinished")));
    }
}
