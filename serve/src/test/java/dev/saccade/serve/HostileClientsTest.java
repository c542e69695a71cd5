package dev.saccade.serve;

import static dev.saccade.serve.Client.problem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.Text;
import dev.saccade.models.Detector;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;

/** Invalid images, requests and connections do not affect other clients. */
@Timeout(120)
class HostileClientsTest {

    private static final int MAX_BYTES = 100_000;

    @TempDir private static Path folder;
    private static Detector detector;
    private static PredictionServer server;

    @BeforeAll
    static void start() {
        detector = ServedModels.detector(folder);
        server = PredictionServer.of(detector).limits(limits(Duration.ofMinutes(1))).start();
    }

    private static ServerLimits limits(Duration patience) {
        return new ServerLimits(MAX_BYTES, 1_000_000, 8, 512, patience);
    }

    @AfterAll
    static void end() {
        server.close();
        detector.close();
    }

    @AfterEach
    void stillServesOthers() throws Exception {
        byte[] photo = ServedModels.image("png", 0);
        assertEquals(200, new Client(server).predict(photo).statusCode());
    }

    private static String refused(int status, byte[] body, String... headers) throws Exception {
        return problem(status, new Client(server).predict(body, headers));
    }

    @Test
    void rejectsNonImages() throws Exception {
        byte[] photo = ServedModels.image("jpg", 1);
        assertEquals(
                "image: is empty (0 bytes); expected a JPEG, PNG, BMP, TIFF or WebP image",
                refused(422, new byte[0]));
        assertTrue(
                refused(422, "<html>".getBytes(UTF_8), "Content-Type", "image/jpeg")
                        .contains("is not an image, it starts with \"<html>\""));
        assertTrue(
                refused(422, Arrays.copyOf(photo, photo.length / 2)).contains("JPEG is truncated"));
        byte[] gif = ServedModels.image("gif", 1);
        assertTrue(refused(422, gif).contains("is a GIF image"));
    }

    @Test
    void rejectsDecompressionBombs() throws Exception {
        byte[] png = ServedModels.image("png", 1);
        ByteBuffer.wrap(png).putInt(16, 60_000).putInt(20, 60_000);
        CRC32 crc = new CRC32();
        crc.update(png, 12, 17);
        ByteBuffer.wrap(png).putInt(29, (int) crc.getValue());
        assertEquals(
                "image: PNG of 60000x60000 pixels, expected at most 1000000 pixels; send a"
                        + " smaller image",
                refused(422, png));
    }

    @Test
    void rejectsPngWithInvalidLength() throws Exception {
        byte[] png = ServedModels.image("png", 1);
        ByteBuffer.wrap(png).putInt(8, 0x3d00000d);
        assertTrue(refused(422, png).contains("header cannot be read"));
    }

    @Test
    void discardsOversizedBodies() throws Exception {
        assertTrue(refused(413, new byte[MAX_BYTES + 1]).contains("larger than 100000 bytes"));
        HttpRequest chunked =
                HttpRequest.newBuilder(server.uri().resolve("/predict"))
                        .POST(
                                HttpRequest.BodyPublishers.ofInputStream(
                                        () -> new ByteArrayInputStream(new byte[3 * MAX_BYTES])))
                        .build();
        problem(
                413,
                new Client(server).http().send(chunked, HttpResponse.BodyHandlers.ofByteArray()));
        String said =
                raw(
                        "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n");
        assertTrue(said.startsWith("HTTP/1.1 413 "), said);
    }

    @Test
    void acceptsChunkedBodies() throws Exception {
        byte[] photo = ServedModels.image("png", 0);
        HttpRequest chunked =
                HttpRequest.newBuilder(server.uri().resolve("/predict"))
                        .POST(
                                HttpRequest.BodyPublishers.ofInputStream(
                                        () -> new ByteArrayInputStream(photo)))
                        .build();
        HttpResponse<byte[]> answer =
                new Client(server).http().send(chunked, HttpResponse.BodyHandlers.ofByteArray());
        assertEquals(Client.json(new Client(server).predict(photo)), Client.seen(answer));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "multipart/form-data",
                "multipart/form-data; boundary=",
                "multipart/form-data; boundary=other",
                "multipart/form-data; boundary=\"",
                "multipart/form-data; boundary=\"\"",
            })
    void rejectsMalformedForms(String type) throws Exception {
        byte[] body = ("--" + Client.BOUNDARY + "\r\n\r\nx").getBytes(UTF_8);
        assertTrue(refused(400, body, "Content-Type", type).contains("multipart/form-data"));
    }

    @Test
    void rejectsFieldsAndTooManyFiles() throws Exception {
        String field =
                "--%1$s\r\nContent-Disposition: form-data; name=\"score\"\r\n\r\n0.5\r\n--%1$s--\r\n";
        String output =
                refused(
                        400,
                        String.format(Locale.ROOT, field, Client.BOUNDARY).getBytes(UTF_8),
                        "Content-Type",
                        "multipart/form-data; boundary=" + Client.BOUNDARY);
        assertTrue(output.startsWith("the field score is not a file"), output);
        Map<String, byte[]> files = new LinkedHashMap<>();
        for (int i = 0; i < 9; i++) {
            files.put(i + ".png", new byte[] {1});
        }
        assertEquals(
                "got 9 files in one request, expected at most 8; send several requests",
                problem(400, new Client(server).sendForm(files, "")));
    }

    @Test
    void reportsMissingNames() throws Exception {
        String part =
                String.format(Locale.ROOT, "--%1$s\r\n\r\nx\r\n--%1$s--\r\n", Client.BOUNDARY);
        String type = "multipart/form-data; boundary=" + Client.BOUNDARY;
        String output = refused(400, part.getBytes(UTF_8), "Content-Type", type);
        assertTrue(output.startsWith("a part without a name is not a file"), output);
    }

    /** curl -d removes line breaks and zeros. */
    @Test
    void explainsHowToSendImages() throws Exception {
        String photo = new String(ServedModels.image("jpg", 1), ISO_8859_1);
        byte[] stripped = photo.replaceAll("[\r\n\0]", "").getBytes(ISO_8859_1);
        String form = "application/x-www-form-urlencoded";
        assertTrue(
                refused(422, stripped, "Content-Type", form)
                        .endsWith("use curl --data-binary @photo.jpg ADDRESS"));
        byte[] json = "{\"image\": \"/9j/4AAQ\"}".getBytes(UTF_8);
        assertTrue(
                refused(422, json, "Content-Type", "application/json; charset=utf-8")
                        .endsWith("instead of JSON: curl --data-binary @photo.jpg ADDRESS"));
        byte[] whole = ServedModels.image("jpg", 1);
        assertEquals(200, new Client(server).predict(whole, "Content-Type", form).statusCode());
    }

    /** A HEIC image is complete, so advice about curl would mislead. */
    @ParameterizedTest
    @ValueSource(strings = {"application/x-www-form-urlencoded", "application/json", "image/heic"})
    void namesUnsupportedFormats(String type) throws Exception {
        byte[] heic = "\0\0\0\30ftypheic\0\0\0\0mif1heic\0\0\0\0".getBytes(ISO_8859_1);
        String output = refused(422, heic, "Content-Type", type);
        assertTrue(output.contains("HEIC") && output.contains("convert it to JPEG or PNG"), output);
        assertFalse(output.contains("curl"), output);
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "x-gzip", "GZIP", "identity, gzip"})
    void decompressesGzip(String coding) throws Exception {
        Client client = new Client(server);
        byte[] photo = ServedModels.image("png", 0);
        HttpResponse<byte[]> plain = client.predict(photo);
        HttpResponse<byte[]> packed = client.predict(gzip(photo), "Content-Encoding", coding);
        assertEquals(200, packed.statusCode());
        assertArrayEquals(plain.body(), packed.body());
    }

    @ParameterizedTest
    @ValueSource(strings = {"compress", "br", "zstd", "gzip, gzip"})
    void rejectsOtherCodings(String coding) throws Exception {
        HttpResponse<byte[]> response =
                new Client(server)
                        .predict(ServedModels.image("png", 0), "Content-Encoding", coding);
        assertTrue(Client.problem(415, response).contains("got " + coding));
        assertEquals(
                "gzip, deflate", response.headers().firstValue("Accept-Encoding").orElseThrow());
    }

    @Test
    void limitsAndChecksGzip() throws Exception {
        byte[] bomb = gzip(new byte[MAX_BYTES + 1]);
        assertTrue(bomb.length < MAX_BYTES / 100, bomb.length + " bytes");
        String output = refused(413, bomb, "Content-Encoding", "gzip");
        assertTrue(output.contains("when decompressed"), output);
        byte[] photo = ServedModels.image("png", 0);
        refused(400, photo, "Content-Encoding", "gzip");
        byte[] packed = gzip(photo);
        refused(400, Arrays.copyOf(packed, packed.length / 2), "Content-Encoding", "gzip");
    }

    private static byte[] gzip(byte[] bytes) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(bytes);
        }
        return packed.toByteArray();
    }

    @Test
    void rejectsDnsRebinding() throws Exception {
        String said =
                raw("GET /model HTTP/1.1\r\nHost: evil.example:80\r\nConnection: close\r\n\r\n");
        assertTrue(said.startsWith("HTTP/1.1 421 "), said);
        assertFalse(said.contains("retinanet"), said);
        String own = raw("GET /model HTTP/1.1\r\nHost: LocalHost\r\nConnection: close\r\n\r\n");
        assertTrue(own.startsWith("HTTP/1.1 200 "), own);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "garbage\r\n\r\n",
                "\0\1\2\3\4\5\r\n\r\n",
                "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
                "GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                "GET / HTTP/1.1\r\n\r\n",
                "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                "POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding:"
                        + " chunked\r\n\r\n0\r\n\r\n",
                "POST /predict?score=%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            })
    void rejectsMalformedRequests(String request) throws Exception {
        String said = raw(request);
        assertTrue(said.matches("(?s)HTTP/1.1 [45]\\d\\d .*"), said);
        assertFalse(said.contains("root:"), said);
        assertFalse(said.contains("\tat "), said);
        assertFalse(said.contains("Jetty"), said);
    }

    @Test
    void earlyResponseClosesConnection() throws Exception {
        for (String start : List.of("/predict?score=7", "/model", "/nowhere")) {
            String output =
                    raw(
                            "POST "
                                    + start
                                    + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 400000\r\n\r\n");
            assertTrue(output.startsWith("HTTP/1.1 40"), output);
            assertTrue(output.contains("Connection: close"), output);
        }
    }

    /** Closing the connection early would lose the response. */
    @Test
    void rejectedClientMayFinishSending() throws Exception {
        String head =
                "POST /predict?score=7 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n";
        try (Socket socket = connect(server.uri())) {
            OutputStream out = socket.getOutputStream();
            out.write(head.getBytes(ISO_8859_1));
            String status = "HTTP/1.1 400";
            assertEquals(status, new String(socket.getInputStream().readNBytes(12), ISO_8859_1));
            for (int i = 0; i < 6; i++) {
                TimeUnit.MILLISECONDS.sleep(10);
                out.write(new byte[10_000]);
            }
            assertTrue(read(socket).contains("score: got 7"));
        }
    }

    @Test
    void rejectsEndlessHeaders() throws Exception {
        String many = String.join("", Collections.nCopies(3000, "X-A: bbbbbbbb\r\n"));
        String said = raw("GET / HTTP/1.1\r\nHost: localhost\r\n" + many + "\r\n");
        assertTrue(said.startsWith("HTTP/1.1 431 "), said);
    }

    @Test
    void ignoresGarbageAfterRequest() throws Exception {
        String said =
                raw("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n\r\nrubbish rubbish\r\n\r\n");
        assertTrue(said.startsWith("HTTP/1.1 200 "), said);
        assertTrue(said.matches("(?s).*\\}HTTP/1.1 [45]\\d\\d .*"), said);
    }

    @Test
    void toleratesDisconnects() throws Exception {
        byte[] photo = ServedModels.image("png", 0);
        String head =
                Text.format(
                        "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n",
                        photo.length);
        for (int length : new int[] {0, photo.length / 2, photo.length}) {
            for (int i = 0; i < 10; i++) {
                try (Socket socket = connect(server.uri())) {
                    socket.setSoLinger(true, 0);
                    socket.getOutputStream().write(head.getBytes(ISO_8859_1));
                    socket.getOutputStream().write(photo, 0, length);
                }
            }
        }
        Client client = new Client(server);
        String idle = "\nsaccade_queue_length{model=\"model\"} 0.0";
        while (!Client.text(client.get("/metrics")).contains(idle)) {
            Thread.sleep(20);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
                "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n",
            })
    void closesTricklingClients(String start) throws Exception {
        ServerLimits hasty = limits(Duration.ofMillis(600));
        try (PredictionServer other = PredictionServer.of(detector).limits(hasty).start()) {
            List<Socket> slow = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                Socket socket = connect(other.uri());
                socket.getOutputStream().write(start.getBytes(ISO_8859_1));
                slow.add(socket);
            }
            byte[] photo = ServedModels.image("png", 0);
            assertEquals(200, new Client(other).predict(photo).statusCode());
            for (Socket socket : slow) {
                drip(socket);
                String said = read(socket);
                assertTrue(said.isEmpty() || said.startsWith("HTTP/1.1 408 "), said);
                assertEquals(start.startsWith("GET"), said.isEmpty(), said);
            }
        }
    }

    /** Sends a byte at a time until the server closes the connection. */
    private static void drip(Socket socket) throws InterruptedException {
        try {
            OutputStream out = socket.getOutputStream();
            while (socket.getInputStream().available() == 0) {
                out.write('x');
                Thread.sleep(50);
            }
        } catch (IOException e) {
            assertTrue(e instanceof SocketException, e.toString());
        }
    }

    private static Socket connect(URI where) throws IOException {
        return new Socket(where.getHost(), where.getPort());
    }

    /** Sends bytes and returns the response until the connection is closed. */
    private static String raw(String request) throws IOException {
        try (Socket socket = connect(server.uri())) {
            socket.getOutputStream().write(request.getBytes(ISO_8859_1));
            return read(socket);
        }
    }

    private static String read(Socket socket) {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        try (InputStream in = socket.getInputStream()) {
            byte[] some = new byte[4096];
            for (int length = in.read(some); length >= 0; length = in.read(some)) {
                said.write(some, 0, length);
            }
        } catch (IOException e) {
            return said.toString(UTF_8);
        }
        return said.toString(UTF_8);
    }
}
