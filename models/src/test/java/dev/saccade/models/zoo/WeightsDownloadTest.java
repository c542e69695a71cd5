package dev.saccade.models.zoo;

import static dev.saccade.models.zoo.WeightsServer.file;
import static dev.saccade.models.zoo.WeightsServer.half;
import static dev.saccade.models.zoo.WeightsServer.redirect;
import static dev.saccade.models.zoo.WeightsServer.send;
import static dev.saccade.models.zoo.WeightsServer.status;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Downloads from a correct server, complete or in several parts. */
class WeightsDownloadTest extends WeightsDownloads {

    @Test
    void downloadsAFileOnce() throws IOException {
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
    void resumesAfterABrokenConnection() throws IOException {
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
    void resumesInALaterCommand() throws IOException {
        try (WeightsServer server =
                new WeightsServer(half(checkpoint, TAG), status(503), file(checkpoint, TAG))) {
            SaccadeException error = refused(SWIN, server);
            assertEquals(SaccadeException.Kind.IO, error.kind());
            assertTrue(error.getMessage().contains("failed; try again later (status 503)"));
            assertEquals(Optional.empty(), SWIN.find(), "half a file");
            Path file = fetch(SWIN, server);
            assertArrayEquals(checkpoint, Files.readAllBytes(file));
            assertTrue(server.requests().get(2).range().isPresent());
        }
        assertEquals(1, kept().size());
    }

    @Test
    void restartsWithoutRangeSupport() throws IOException {
        try (WeightsServer server =
                new WeightsServer(
                        half(checkpoint, TAG), exchange -> send(exchange, 200, checkpoint))) {
            assertArrayEquals(checkpoint, Files.readAllBytes(fetch(SWIN, server)));
        }
    }

    @Test
    void restartsIfTheFileChanged() throws IOException {
        try (WeightsServer server =
                new WeightsServer(half(checkpoint, TAG), file(another, "\"two\""))) {
            assertArrayEquals(another, Files.readAllBytes(fetch(SWIN, server)));
        }
    }

    @Test
    void restartsIfTheUrlChanged() throws IOException {
        try (WeightsServer first = new WeightsServer(half(checkpoint, TAG), status(404));
                WeightsServer second = new WeightsServer(file(another, TAG))) {
            refused(SWIN, first);
            assertArrayEquals(another, Files.readAllBytes(fetch(SWIN, second)));
            assertEquals(Optional.empty(), second.requests().get(0).range());
        }
    }

    @Test
    void restartsIfTheRangeIsNotSatisfiable() throws IOException {
        try (WeightsServer server =
                new WeightsServer(half(checkpoint, TAG), status(416), file(checkpoint, TAG))) {
            assertArrayEquals(checkpoint, Files.readAllBytes(fetch(SWIN, server)));
        }
    }

    @Test
    void followsRedirects() throws IOException {
        try (WeightsServer store = new WeightsServer(file(checkpoint, TAG));
                WeightsServer server = new WeightsServer(redirect(store.address() + "/blob"))) {
            assertArrayEquals(checkpoint, Files.readAllBytes(fetch(SWIN, server)));
        }
    }

    @Test
    void stopsRedirectLoops() throws IOException {
        try (WeightsServer server = new WeightsServer(redirect("/again"))) {
            assertTrue(refused(SWIN, server).getMessage().contains("too many redirects"));
        }
    }

    @Test
    void doesNotFollowRedirectsToHttp() throws Exception {
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

    /** Creates a certificate that only this test trusts. */
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
}
