package dev.saccade.models.zoo;

import static dev.saccade.models.zoo.WeightsServer.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Files in the cache and in mirror folders, and concurrent downloads. */
class WeightsCacheTest extends WeightsDownloads {

    @Test
    void reportsAnUnwritableCache() throws IOException {
        Files.writeString(cache, "a file where a folder is to be");
        try (WeightsServer server = new WeightsServer(file(checkpoint, TAG))) {
            SaccadeException error = refused(SWIN, server);
            assertEquals(SaccadeException.Kind.IO, error.kind());
            assertTrue(error.getMessage().contains("set SACCADE_CACHE"));
            assertEquals(List.of(), server.requests());
        }
    }

    /** Like a shared cache that this user may only read. */
    @Test
    void readsFromAReadOnlyCache() throws IOException {
        Path file = cache.resolve("weights").resolve(SWIN.file());
        Files.createDirectories(file.resolveSibling("." + SWIN.file() + ".lock"));
        Files.write(file, checkpoint);
        assertEquals(file, SWIN.fetch(SILENT));
    }

    @Test
    void followsFolderLinksToFilesOnly() throws IOException {
        Path stick = Files.createDirectories(folder.resolve("stick"));
        Path link = stick.resolve(SWIN.file());
        for (String target : List.of("/dev/zero", "nowhere", ".", SWIN.file())) {
            Files.deleteIfExists(link);
            Files.createSymbolicLink(link, Path.of(target));
            SaccadeException error =
                    assertThrows(
                            SaccadeException.class,
                            () -> SWIN.fetch(Optional.of(stick.toString()), SILENT));
            assertEquals(link + ": no such file", error.getMessage());
        }
        Files.delete(link);
        Files.createSymbolicLink(link, Files.write(folder.resolve("elsewhere"), checkpoint));
        Path file = SWIN.fetch(Optional.of(stick.toString()), SILENT);
        assertTrue(Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS));
    }

    /** Write access to the cache must not allow writing elsewhere through links. */
    @Test
    void doesNotWriteThroughLinks() throws IOException {
        Path mine = Files.writeString(folder.resolve("mine"), "mine");
        Path weights = Files.createDirectories(cache.resolve("weights"));
        Files.createSymbolicLink(weights.resolve(SWIN.file() + ".part"), mine);
        try (WeightsServer server = new WeightsServer(file(checkpoint, TAG))) {
            refused(SWIN, server);
        }
        assertEquals("mine", Files.readString(mine));
    }

    @Test
    void copiesFromAMirrorFolder() throws IOException {
        Path stick = Files.createDirectories(folder.resolve("stick"));
        SaccadeException missing =
                assertThrows(
                        SaccadeException.class,
                        () -> SWIN.fetch(Optional.of(stick.toString()), SILENT));
        assertTrue(missing.getMessage().contains("no such file"));
        Files.write(stick.resolve(SWIN.file()), checkpoint);
        Path file = SWIN.fetch(Optional.of(stick.toString()), SILENT);
        assertTrue(file.startsWith(cache));
        assertArrayEquals(checkpoint, Files.readAllBytes(file));
    }

    @Test
    void rejectsAFileWithoutAveragedWeights() throws IOException {
        PretrainedWeights averaged = PretrainedWeights.named("elsa_swin_base");
        Path stick = Files.createDirectories(folder.resolve("stick"));
        Files.write(stick.resolve(averaged.file()), checkpoint);
        SaccadeException error =
                assertThrows(
                        SaccadeException.class,
                        () -> averaged.fetch(Optional.of(stick.toString()), SILENT));
        assertTrue(error.getMessage().contains("averaged weights"), error.getMessage());
        assertEquals(Optional.empty(), averaged.find());
    }

    @Test
    void findsFilesInTheMirror() throws IOException {
        Path mirror = Files.createDirectories(folder.resolve("mirror"));
        System.setProperty(MIRROR, mirror.toString());
        assertEquals(Optional.empty(), SWIN.find());
        Path file = Files.write(mirror.resolve(SWIN.file()), checkpoint);
        assertEquals(Optional.of(file), SWIN.find());
    }

    @Test
    void explainsManualDownloads() throws IOException {
        PretrainedWeights elsa = PretrainedWeights.named("elsa_swin_tiny");
        SaccadeException error = assertThrows(SaccadeException.class, () -> elsa.fetch(SILENT));
        assertEquals(SaccadeException.Kind.USER, error.kind());
        assertTrue(error.getMessage().contains(elsa.page().orElseThrow()), error.getMessage());
        Path file = cache.resolve("weights").resolve(elsa.file());
        assertTrue(error.getMessage().endsWith(file.toString()), error.getMessage());
        Files.createDirectories(file.getParent());
        Files.write(file, checkpoint);
        assertEquals(file, elsa.require());
    }

    @Test
    void rejectsADifferentFileInTheCache() throws IOException {
        Path file = cache.resolve("weights").resolve(RESNET.file());
        Files.createDirectories(file.getParent());
        Files.write(file, checkpoint);
        SaccadeException error = assertThrows(SaccadeException.class, () -> RESNET.checksum(file));
        assertTrue(error.getMessage().contains("f37072fd"), error.getMessage());
        assertThrows(SaccadeException.class, () -> RESNET.fetch(SILENT));
        assertTrue(Files.exists(file), "what a user has put there stays");
    }

    @Test
    void threadsDownloadAFileOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (WeightsServer server = new WeightsServer(file(checkpoint, TAG))) {
            Future<Path> one = threads.submit(() -> fetch(SWIN, server));
            Future<Path> two = threads.submit(() -> fetch(SWIN, server));
            assertEquals(one.get(), two.get());
            assertEquals(1, server.requests().size());
        } finally {
            threads.shutdownNow();
        }
    }

    /** Downloads in a separate process from a host that does not respond. */
    static final class Fetch {

        public static void main(String[] args) {
            SWIN.fetch(Optional.of("http://localhost:9"), SILENT);
        }
    }

    @Test
    void waitsForADownloadInAnotherProcess() throws Exception {
        Path file = cache.resolve("weights").resolve(SWIN.file());
        Files.createDirectories(file.getParent());
        Process other;
        try (FileChannel channel =
                        FileChannel.open(
                                file.resolveSibling("." + SWIN.file() + ".lock"),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            assertTrue(lock.isValid());
            other =
                    new ProcessBuilder(
                                    Path.of(System.getProperty("java.home"), "bin", "java")
                                            .toString(),
                                    "-D" + CACHE + "=" + cache,
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    Fetch.class.getName())
                            .redirectErrorStream(true)
                            .start();
            BufferedReader told = other.inputReader(UTF_8);
            String line = told.readLine();
            while (line != null && !line.contains("another process is downloading this file")) {
                line = told.readLine();
            }
            assertFalse(line == null, "it did not wait");
            Files.write(file, checkpoint);
        }
        assertEquals(0, other.waitFor());
    }
}
