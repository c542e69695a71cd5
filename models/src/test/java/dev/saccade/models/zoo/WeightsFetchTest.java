package dev.saccade.models.zoo;

import static dev.saccade.models.zoo.WeightsServer.file;
import static dev.saccade.models.zoo.WeightsServer.half;
import static dev.saccade.models.zoo.WeightsServer.redirect;
import static dev.saccade.models.zoo.WeightsServer.send;
import static dev.saccade.models.zoo.WeightsServer.status;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import ai.djl.ndarray.NDManager;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** What becomes of weights on their way from a server, or a folder, into the cache. */
class WeightsFetchTest {

    private static final String CACHE = "SACCADE_CACHE";
    private static final String MIRROR = "SACCADE_WEIGHTS";
    private static final String TAG = "\"one\"";

    /** Of this neither size nor checksum is published, so that any checkpoint will do. */
    private static final PretrainedWeights SWIN = PretrainedWeights.named("swin_tiny");

    /** Of this both are. */
    private static final PretrainedWeights RESNET = PretrainedWeights.named("resnet18");

    private static final PretrainedWeights.Progress SILENT = (bytes, total) -> {};

    @TempDir Path folder;

    private Path cache;
    private byte[] checkpoint;
    private byte[] another;

    @BeforeEach
    void prepare() throws IOException {
        cache = folder.resolve("cache");
        System.setProperty(CACHE, cache.toString());
        checkpoint = checkpoint(1);
        another = checkpoint(2);
    }

    @AfterEach
    void forget() {
        System.clearProperty(CACHE);
        System.clearProperty(MIRROR);
    }

    private byte[] checkpoint(float value) throws IOException {
        Path file = folder.resolve("made.pth");
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Tensor tensor =
                    Tensor.of(manager.ones(new ai.djl.ndarray.types.Shape(50_000)).mul(value));
            Checkpoints.save(file, new Checkpoint(Map.of("norm.weight", tensor), Map.of()));
        }
        return Files.readAllBytes(file);
    }

    private static Path fetch(PretrainedWeights weights, WeightsServer server) {
        return weights.fetch(Optional.of(server.address()), SILENT);
    }

    private static SaccadeException refused(PretrainedWeights weights, WeightsServer server) {
        return assertThrows(SaccadeException.class, () -> fetch(weights, server));
    }

    /** Returns the names of what is in the cache, but for the locks. */
    private List<String> kept() throws IOException {
        try (Stream<Path> files = Files.list(cache.resolve("weights"))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.endsWith(".lock"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void bringsAFileOnce() throws IOException {
        List<Long> bytes = new ArrayList<>();
        try (WeightsServer server = new WeightsServer(file(checkpoint, TAG))) {
            assertEquals(Optional.empty(), SWIN.find());
            Path file =
                    SWIN.fetch(
                            Optional.of(server.address()),
                            (now, total) -> {
                                bytes.add(now);
                                assertEquals(checkpoint.length, total);
                            });
            assertArrayEquals(checkpoint, Files.readAllBytes(file));
            assertEquals(Optional.of(file), SWIN.find());
            assertEquals(file, SWIN.require());
            assertEquals(file, fetch(SWIN, server));
            assertEquals(1, server.requests().size());
        }
        assertEquals(0, bytes.get(0));
        assertEquals(checkpoint.length, bytes.get(bytes.size() - 1));
        assertEquals(List.of("swin_tiny_patch4_window7_224.pth"), kept());
    }

    @Test
    void goesOnWhereAConnectionBroke() throws IOException {
        try (WeightsServer server =
                new WeightsServer(half(checkpoint, TAG), file(checkpoint, TAG))) {
            Path file = fetch(SWIN, server);
            assertArrayEquals(checkpoint, Files.readAllBytes(file));
            assertEquals(2, server.requests().size());
            assertEquals(Optional.of(TAG), server.requests().get(1).ifRange());
            String range = server.requests().get(1).range().orElseThrow();
            assertTrue(range.matches("bytes=[1-9]\\d*-"), range);
        }
    }

    @Test
    void goesOnInALaterCommand() throws IOException {
        try (WeightsServer server =
                new WeightsServer(half(checkpoint, TAG), status(503), file(checkpoint, TAG))) {
            SaccadeException error = refused(SWIN, server);
            assertEquals(SaccadeException.Kind.IO, error.kind());
            assertTrue(error.getMessage().contains("fails; try later (status 503)"));
            assertEquals(Optional.empty(), SWIN.find(), "half a file");
            Path file = fetch(SWIN, server);
            assertArrayEquals(checkpoint, Files.readAllBytes(file));
            assertTrue(server.requests().get(2).range().isPresent());
        }
        assertEquals(1, kept().size());
    }

    @Test
    void beginsAnewWhereTheServerHasNoRanges() throws IOException {
        try (WeightsServer server =
                new WeightsServer(
                        half(checkpoint, TAG), exchange -> send(exchange, 200, checkpoint))) {
            assertArrayEquals(checkpoint, Files.readAllBytes(fetch(SWIN, server)));
        }
    }

    @Test
    void beginsAnewWhereTheFileHasChanged() throws IOException {
        try (WeightsServer server =
                new WeightsServer(half(checkpoint, TAG), file(another, "\"two\""))) {
            assertArrayEquals(another, Files.readAllBytes(fetch(SWIN, server)));
        }
    }

    @Test
    void beginsAnewWhereTheBeginningIsOfAnotherAddress() throws IOException {
        try (WeightsServer first = new WeightsServer(half(checkpoint, TAG), status(404));
                WeightsServer second = new WeightsServer(file(another, TAG))) {
            refused(SWIN, first);
            assertArrayEquals(another, Files.readAllBytes(fetch(SWIN, second)));
            assertEquals(Optional.empty(), second.requests().get(0).range());
        }
    }

    @Test
    void doesNotPutTogetherWhatDoesNotFit() throws IOException {
        try (WeightsServer server =
                new WeightsServer(
                        half(checkpoint, TAG),
                        exchange -> {
                            exchange.getResponseHeaders()
                                    .set("Content-Range", "bytes 0-9/" + checkpoint.length);
                            send(exchange, 206, new byte[10]);
                        })) {
            SaccadeException error = refused(SWIN, server);
            assertTrue(error.getMessage().contains("sent another rest than was asked for"));
        }
        assertEquals(Optional.empty(), SWIN.find());
    }

    @Test
    void beginsAnewWhereThereIsNoRest() throws IOException {
        try (WeightsServer server =
                new WeightsServer(half(checkpoint, TAG), status(416), file(checkpoint, TAG))) {
            assertArrayEquals(checkpoint, Files.readAllBytes(fetch(SWIN, server)));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "403, refuses to give it out",
        "404, has no such file any more",
        "429, has been asked too often",
        "500, fails; try later",
        "204, gives no file"
    })
    void saysWhatTheServerSays(int status, String what) throws IOException {
        try (WeightsServer server = new WeightsServer(status(status))) {
            SaccadeException error = refused(SWIN, server);
            assertEquals(SaccadeException.Kind.IO, error.kind());
            assertTrue(error.getMessage().contains(what), error.getMessage());
            assertTrue(error.getMessage().contains("swin_tiny_patch4_window7_224.pth"));
            assertEquals(1, server.requests().size());
        }
        assertEquals(Optional.empty(), SWIN.find());
    }

    @Test
    void refusesAnotherLengthBeforeItFetches() throws IOException {
        try (WeightsServer server = new WeightsServer(file(checkpoint, TAG))) {
            SaccadeException error = refused(RESNET, server);
            assertEquals(
                    "resnet18-f37072fd.pth: %d bytes, but 44.7 MiB are published"
                            .formatted(checkpoint.length),
                    error.getMessage());
        }
        assertEquals(Optional.empty(), RESNET.find());
    }

    @Test
    void keepsNothingOfAnotherChecksum() throws IOException {
        byte[] zeros = new byte[(int) (44.661 * (1 << 20))];
        try (WeightsServer server = new WeightsServer(file(zeros, TAG))) {
            SaccadeException error = refused(RESNET, server);
            assertTrue(
                    error.getMessage().contains("begins with f37072fd is published"),
                    error.getMessage());
            assertTrue(error.getMessage().contains("was not kept"));
        }
        assertEquals(List.of(), kept());
    }

    @Test
    void keepsNothingThatIsNoCheckpoint() throws IOException {
        byte[] page = "<!DOCTYPE html><html>Please log in</html>".getBytes(UTF_8);
        try (WeightsServer server = new WeightsServer(file(page, TAG))) {
            SaccadeException error = refused(SWIN, server);
            assertTrue(error.getMessage().contains("a web page"), error.getMessage());
        }
        assertEquals(List.of(), kept());
    }

    @Test
    void endsAtAServerThatSendsMoreThanItHasAnnounced() throws IOException {
        FileBodyProbe probe = new FileBodyProbe(folder.resolve("part"), 4);
        SaccadeException error = assertThrows(SaccadeException.class, () -> probe.send(5));
        assertTrue(error.getMessage().contains("more than the 4 bytes"), error.getMessage());
        assertEquals(0, Files.size(folder.resolve("part")));
    }

    @Test
    void givesUpOnAServerThatFallsSilent() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (WeightsServer server =
                new WeightsServer(
                        exchange -> {
                            exchange.sendResponseHeaders(200, checkpoint.length);
                            exchange.getResponseBody().write(checkpoint, 0, 10);
                            exchange.getResponseBody().flush();
                            awaitQuietly(end);
                        })) {
            Download download =
                    new Download(
                            URI.create(server.address() + "/file"),
                            folder.resolve("file.part"),
                            size -> {},
                            SILENT,
                            Duration.ofMillis(300));
            SaccadeException error = assertThrows(SaccadeException.class, download::run);
            assertTrue(error.getMessage().contains("cannot be fetched"), error.getMessage());
        } finally {
            end.countDown();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void followsRedirections() throws IOException {
        try (WeightsServer store = new WeightsServer(file(checkpoint, TAG));
                WeightsServer server = new WeightsServer(redirect(store.address() + "/blob"))) {
            assertArrayEquals(checkpoint, Files.readAllBytes(fetch(SWIN, server)));
        }
    }

    @Test
    void endsARingOfRedirections() throws IOException {
        try (WeightsServer server = new WeightsServer(redirect("/again"))) {
            assertTrue(refused(SWIN, server).getMessage().contains("not for ever"));
        }
    }

    @Test
    void doesNotFollowToAnUnsafeAddress() throws Exception {
        SSLContext usual = SSLContext.getDefault();
        HttpsServer server =
                HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        try (WeightsServer unsafe = new WeightsServer(file(checkpoint, TAG))) {
            SSLContext context = contextOfLocalhost();
            SSLContext.setDefault(context);
            server.setHttpsConfigurator(new HttpsConfigurator(context));
            server.createContext(
                    "/",
                    exchange -> {
                        try (exchange) {
                            redirect(unsafe.address() + "/file").handle(exchange);
                        }
                    });
            server.start();
            String address = "https://localhost:" + server.getAddress().getPort();
            SaccadeException error =
                    assertThrows(
                            SaccadeException.class, () -> SWIN.fetch(Optional.of(address), SILENT));
            assertTrue(
                    error.getMessage().contains("redirects to " + unsafe.address()),
                    error.getMessage());
            assertTrue(error.getMessage().contains("not followed"));
            assertEquals(List.of(), unsafe.requests());
        } finally {
            SSLContext.setDefault(usual);
            server.stop(0);
        }
    }

    /** Makes a certificate that this test alone trusts. */
    private SSLContext contextOfLocalhost() throws Exception {
        Path keys = folder.resolve("keys.p12");
        Process keytool =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "keytool")
                                        .toString(),
                                "-genkeypair",
                                "-keyalg",
                                "EC",
                                "-dname",
                                "CN=localhost",
                                "-ext",
                                "san=dns:localhost",
                                "-alias",
                                "test",
                                "-storepass",
                                "password",
                                "-keystore",
                                keys.toString())
                        .redirectErrorStream(true)
                        .start();
        String printed = new String(keytool.getInputStream().readAllBytes(), UTF_8);
        assertEquals(0, keytool.waitFor(), printed);
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream content = Files.newInputStream(keys)) {
            store.load(content, "password".toCharArray());
        }
        KeyManagerFactory own =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(store, "password".toCharArray());
        TrustManagerFactory trusted =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        return context;
    }

    @Test
    void saysWhatCannotBeWritten() throws IOException {
        Files.writeString(cache, "a file where a folder is to be");
        try (WeightsServer server = new WeightsServer(file(checkpoint, TAG))) {
            SaccadeException error = refused(SWIN, server);
            assertEquals(SaccadeException.Kind.IO, error.kind());
            assertTrue(error.getMessage().contains("name another folder with SACCADE_CACHE"));
            assertEquals(List.of(), server.requests());
        }
    }

    @Test
    void takesAFileFromAFolder() throws IOException {
        Path stick = Files.createDirectories(folder.resolve("stick"));
        SaccadeException missing =
                assertThrows(
                        SaccadeException.class,
                        () -> SWIN.fetch(Optional.of(stick.toString()), SILENT));
        assertTrue(missing.getMessage().contains("there is no such file"));
        Files.write(stick.resolve(SWIN.file()), checkpoint);
        Path file = SWIN.fetch(Optional.of(stick.toString()), SILENT);
        assertTrue(file.startsWith(cache));
        assertArrayEquals(checkpoint, Files.readAllBytes(file));
    }

    @Test
    void findsWhatLiesInTheMirror() throws IOException {
        Path mirror = Files.createDirectories(folder.resolve("mirror"));
        System.setProperty(MIRROR, mirror.toString());
        assertEquals(Optional.empty(), SWIN.find());
        Path file = Files.write(mirror.resolve(SWIN.file()), checkpoint);
        assertEquals(Optional.of(file), SWIN.find());
    }

    @Test
    void takesByHandWhatNobodyGivesOutOtherwise() throws IOException {
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
    void refusesAFileInTheCacheThatIsNotThePublishedOne() throws IOException {
        Path file = cache.resolve("weights").resolve(RESNET.file());
        Files.createDirectories(file.getParent());
        Files.write(file, checkpoint);
        SaccadeException error = assertThrows(SaccadeException.class, () -> RESNET.checksum(file));
        assertTrue(error.getMessage().contains("f37072fd"), error.getMessage());
        assertThrows(SaccadeException.class, () -> RESNET.fetch(SILENT));
        assertTrue(Files.exists(file), "what a user has put there stays");
    }

    @Test
    void threadsFetchAFileOnce() throws Exception {
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

    /** Fetches in a process of its own, from where nobody answers. */
    static final class Fetch {

        public static void main(String[] args) {
            SWIN.fetch(Optional.of("http://localhost:9"), SILENT);
        }
    }

    @Test
    void waitsForAnotherProcessThatFetchesTheFile() throws Exception {
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
            while (line != null && !line.contains("another process is fetching this file")) {
                line = told.readLine();
            }
            assertFalse(line == null, "it did not wait");
            Files.write(file, checkpoint);
        }
        assertEquals(0, other.waitFor());
    }
}
