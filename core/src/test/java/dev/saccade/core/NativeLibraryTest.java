package dev.saccade.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Extraction of libraries from jars. */
class NativeLibraryTest {

    private static final String CACHE = "ENGINE_CACHE_DIR";

    @TempDir Path folder;

    @BeforeEach
    void useAnEmptyCache() {
        System.setProperty(CACHE, folder.resolve("cache").toString());
    }

    @AfterEach
    void restoreCache() {
        System.clearProperty(CACHE);
    }

    private URL packed(String jar, String content) throws IOException {
        Path file = folder.resolve(jar);
        try (OutputStream out = Files.newOutputStream(file);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            zip.putNextEntry(new ZipEntry("native/libthing.so"));
            zip.write(content.getBytes(StandardCharsets.UTF_8));
        }
        return URI.create("jar:" + file.toUri() + "!/native/libthing.so").toURL();
    }

    @Test
    void extractsOnce() throws IOException {
        URL resource = packed("one.jar", "code");
        Path file = NativeLibrary.file(resource);
        assertArrayEquals("code".getBytes(StandardCharsets.UTF_8), Files.readAllBytes(file));
        assertEquals("libthing.so", file.getFileName().toString());
        FileTime longAgo = FileTime.fromMillis(1_000_000);
        Files.setLastModifiedTime(file, longAgo);
        assertEquals(file, NativeLibrary.file(resource));
        assertEquals(longAgo, Files.getLastModifiedTime(file));
        try (Stream<Path> all = Files.list(file.getParent())) {
            assertEquals(1, all.count(), "no other files");
        }
    }

    @Test
    void extractsOtherVersionsSeparately() throws IOException {
        Path one = NativeLibrary.file(packed("one.jar", "code"));
        Path two = NativeLibrary.file(packed("two.jar", "other code"));
        assertNotEquals(one, two);
        assertTrue(Files.exists(one) && Files.exists(two));
    }

    @Test
    void returnsPlainFilesAsIs() throws IOException {
        Path file = Files.writeString(folder.resolve("libthing.so"), "code");
        assertEquals(file, NativeLibrary.file(file.toUri().toURL()));
    }

    private static void assertIsCode(Path file) throws IOException {
        assertArrayEquals("code".getBytes(StandardCharsets.UTF_8), Files.readAllBytes(file));
    }

    @Test
    void extractsDamagedFilesAgain() throws IOException {
        URL resource = packed("one.jar", "code");
        Path file = NativeLibrary.file(resource);
        for (String damage : new String[] {"", "co", "cod\0", "codecode"}) {
            Files.writeString(file, damage);
            Path whole = NativeLibrary.file(resource);
            assertEquals(file, whole);
            assertIsCode(whole);
        }
    }

    /** A process that has loaded a file would crash if its content changed. */
    @Test
    void replacesDamagedFilesWithoutOverwriting() throws IOException {
        URL resource = packed("one.jar", "code");
        Path file = Files.writeString(NativeLibrary.file(resource), "damage");
        Path loaded = Files.createLink(folder.resolve("loaded"), file);
        assertIsCode(NativeLibrary.file(resource));
        assertEquals("damage", Files.readString(loaded));
    }

    @Test
    void removesWriteAccessOfOtherUsers() throws IOException {
        Path parent = NativeLibrary.file(packed("one.jar", "code")).getParent();
        for (Path made : new Path[] {parent, parent.getParent()}) {
            assertEquals("rwx------", permissions(made));
            Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwxrwxrwx"));
        }
        NativeLibrary.file(packed("one.jar", "code"));
        assertEquals("rwx------", permissions(parent));
        assertEquals("rwx------", permissions(parent.getParent()));
    }

    private static String permissions(Path folder) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(folder));
    }

    @Test
    void rejectsFoldersOfOtherUsers() throws IOException {
        Path cache = NativeLibrary.file(packed("one.jar", "code")).getParent().getParent();
        try {
            Files.setAttribute(cache, "unix:uid", 12345);
        } catch (FileSystemException e) {
            abort("only root can give a folder away");
        }
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> NativeLibrary.file(packed("one.jar", "code")));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(
                e.getMessage().startsWith(cache + ": owned by 12345 with permissions rwx------"),
                e.getMessage());
    }

    @Test
    void namesACacheThatIsNotWritable() throws IOException {
        Path cache = Files.createFile(folder.resolve("cache"));
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> NativeLibrary.file(packed("one.jar", "code")));
        assertEquals(SaccadeException.Kind.IO, e.kind());
        assertTrue(e.getMessage().startsWith(cache.resolve("saccade") + ": "), e.getMessage());
        assertTrue(e.getMessage().contains("set DJL_CACHE_DIR to"), e.getMessage());
    }
}
