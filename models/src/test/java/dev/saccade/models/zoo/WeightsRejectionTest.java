package dev.saccade.models.zoo;

import static dev.saccade.models.zoo.WeightsServer.file;
import static dev.saccade.models.zoo.WeightsServer.half;
import static dev.saccade.models.zoo.WeightsServer.send;
import static dev.saccade.models.zoo.WeightsServer.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** Responses that are rejected, and the messages. */
class WeightsRejectionTest extends WeightsDownloads {

    @Test
    void rejectsAWrongRange() throws IOException {
        try (WeightsServer server =
                new WeightsServer(
                        half(checkpoint, TAG),
                        exchange -> {
                            exchange.getResponseHeaders()
                                    .set("Content-Range", "bytes 0-9/" + checkpoint.length);
                            send(exchange, 206, new byte[10]);
                        })) {
            SaccadeException error = refused(SWIN, server);
            assertTrue(error.getMessage().contains("sent a different range than requested"));
        }
        assertEquals(Optional.empty(), SWIN.find());
    }

    @ParameterizedTest
    @CsvSource({
        "403, denies access",
        "404, no longer has the file",
        "429, limits the number of requests",
        "500, failed; try again later",
        "204, returned no file"
    })
    void reportsTheServerStatus(int status, String what) throws IOException {
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
    void rejectsAWrongLengthBeforeDownloading() throws IOException {
        try (WeightsServer server = new WeightsServer(file(checkpoint, TAG))) {
            SaccadeException error = refused(RESNET, server);
            assertEquals(
                    Text.format(
                            "resnet18-f37072fd.pth: got %d bytes, expected 44.7 MiB",
                            checkpoint.length),
                    error.getMessage());
        }
        assertEquals(Optional.empty(), RESNET.find());
    }

    @Test
    void deletesAFileWithAWrongChecksum() throws IOException {
        byte[] zeros = new byte[(int) (44.661 * (1 << 20))];
        try (WeightsServer server = new WeightsServer(file(zeros, TAG))) {
            SaccadeException error = refused(RESNET, server);
            assertTrue(error.getMessage().contains("begins with f37072fd"), error.getMessage());
            assertTrue(error.getMessage().contains("was deleted"));
        }
        assertEquals(List.of(), kept());
    }

    @Test
    void deletesAFileThatIsNotACheckpoint() throws IOException {
        byte[] page = "<!DOCTYPE html><html>Please log in</html>".getBytes(UTF_8);
        try (WeightsServer server = new WeightsServer(file(page, TAG))) {
            SaccadeException error = refused(SWIN, server);
            assertTrue(error.getMessage().contains("a web page"), error.getMessage());
        }
        assertEquals(List.of(), kept());
    }

    private static String refused(PretrainedWeights weights, Optional<String> mirror) {
        SaccadeException error =
                assertThrows(SaccadeException.class, () -> weights.fetch(mirror, SILENT));
        assertFalse(error.getMessage().matches("(?s).*(Exception|java|input string).*"));
        return error.getMessage();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SSH-2.0-OpenSSH_9.2",
                "HTTP/1.1 twohundred OK",
                "HTTP/1.1 200 OK\nContent-Length: many\n\n",
                "HTTP/1.1 200 OK\nContent-Length: -5\n\n",
                "HTTP/1.1 200 OK\nContent-Length: 99999999999999999999\n\n",
                "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\nxyz\n",
                "HTTP/1.1 302 Found\nLocation: http://[nowhere\n\n",
                "HTTP/1.1 302 Found\nLocation: http://localhost:99999/\n\n",
                ""
            })
    void reportsAnInvalidResponse(String answer) throws IOException {
        try (RawServer server = new RawServer(answer, "")) {
            String told = refused(SWIN, server.address());
            assertTrue(
                    told.contains("cannot be downloaded: the response is incomplete or not HTTP;")
                            || told.contains("cannot be downloaded: the connection was closed;"),
                    told);
            assertTrue(told.contains("fetch it from its folder"), told);
            assertTrue(told.contains("SACCADE_WEIGHTS"), told);
        }
        assertEquals(List.of(), kept());
    }

    @Test
    void reportsAnInvalidRange() throws IOException {
        try (WeightsServer server =
                new WeightsServer(
                        half(checkpoint, TAG),
                        exchange -> {
                            exchange.getResponseHeaders()
                                    .set("Content-Range", "bytes 99999999999999999999-1/2");
                            send(exchange, 206, new byte[1]);
                        })) {
            String told = refused(SWIN, Optional.of(server.address()));
            assertTrue(told.contains("the server sent a different range than requested"), told);
        }
    }

    /** The server sends no size, but the size is published. */
    @Test
    @Timeout(60)
    void stopsAnEndlessDownload() throws IOException {
        try (RawServer server = new RawServer("HTTP/1.1 200 OK\n\n", "endless")) {
            String told = refused(RESNET, server.address());
            assertTrue(told.contains("sends more than the expected 47767061 bytes"), told);
        }
        assertEquals(List.of(), kept());
    }

    @Test
    @Timeout(30)
    void doesNotReadAnEndlessErrorPage() throws IOException {
        try (RawServer server = new RawServer("HTTP/1.1 404 No\n\n", "not found ")) {
            assertTrue(refused(SWIN, server.address()).contains("no longer has the file"));
        }
        assertEquals(List.of(), kept());
    }

    @ParameterizedTest
    @CsvSource({
        "ftp://mirror.example.org/weights, is not an HTTP URL",
        "http://ml_flow:5000, is not an HTTP URL",
        "http://localhost:99999, is not an HTTP URL",
        "http:///weights, is not an HTTP URL",
        "http://[1, is neither a folder nor a URL",
        "http://me:secret@localhost:9, login is not supported",
        "http://localhost:9, cannot be downloaded: connection refused"
    })
    void rejectsInvalidUrls(String address, String expected) throws IOException {
        String told = refused(SWIN, Optional.of(address));
        assertTrue(told.contains(expected), told);
        assertFalse(told.contains("secret"), told);
        assertEquals(List.of(), kept());
    }

    @Test
    void timesOutIfTheServerStopsSending() throws Exception {
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
                            new WeightsCheck(SWIN),
                            SILENT,
                            Duration.ofMillis(300));
            SaccadeException error = assertThrows(SaccadeException.class, download::run);
            assertTrue(error.getMessage().contains("cannot be downloaded"), error.getMessage());
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
}
