package dev.saccade.serve;

import static dev.saccade.serve.Client.problem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.transforms.Tiles;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.ModelMetrics;
import dev.saccade.models.QueueLimits;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Concurrent clients, and shutdown under load. */
@Timeout(120)
class ManyClientsTest {

    private static final int CLIENTS = 64;
    private static final int IMAGES = 3;

    @TempDir private static Path folder;
    private Detector detector;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @BeforeEach
    void load() {
        detector = ServedModels.detector(folder);
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        detector.close();
    }

    @Test
    void responsesAreIndependentOfOtherClients() throws Exception {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        try (PredictionServer server = PredictionServer.of(detector).start()) {
            ask(server);
            String counted = Client.text(new Client(server).get("/metrics"));
            String model = "{model=\"model\"";
            assertFalse(
                    counted.contains("saccade_batch_size_bucket" + model + ",le=\"1.0\"} 195\n"));
            assertTrue(counted.contains("saccade_batch_size_sum" + model + "} 195.0\n"), counted);
        }
    }

    @Test
    void predictsTiles() throws Exception {
        Detector tiled = detector.withTiles(new Tiles(List.of(48, 48), 0.2, false));
        byte[] photo = ServedModels.image("png", 0);
        ImageSource image = ImageSource.of("a.png", photo);
        List<DetectedObject> expected = objects(tiled.predict(image));
        assertNotEquals(objects(detector.predict(image)), expected);
        Upload upload = new Upload("a.png", photo);
        try (UploadQueue queue = new UploadQueue(tiled, QueueLimits.DEFAULT, ModelMetrics.NONE)) {
            for (CompletableFuture<UploadQueue.Predicted> result :
                    queue.submit(List.of(upload, upload), new AtomicBoolean())) {
                assertEquals(expected, objects(result.get().prediction()));
            }
        }
    }

    private List<DetectedObject> objects(Object prediction) {
        return DetectedObject.of((Instances) prediction, detector.classes());
    }

    /** Predicts each image alone, then with many clients at once. */
    private void ask(PredictionServer server) throws Exception {
        List<byte[]> photos = new ArrayList<>();
        List<JsonNode> alone = new ArrayList<>();
        for (int i = 0; i < IMAGES; i++) {
            photos.add(ServedModels.image(i % 2 == 0 ? "png" : "jpg", i));
            alone.add(Client.seen(new Client(server).predict(photos.get(i))));
        }
        List<Callable<Void>> clients = new ArrayList<>();
        for (int c = 0; c < CLIENTS; c++) {
            int first = c;
            clients.add(
                    () -> {
                        Client client = new Client(server);
                        for (int i = first; i < first + IMAGES; i++) {
                            int n = i % IMAGES;
                            assertEquals(alone.get(n), Client.seen(client.predict(photos.get(n))));
                        }
                        return null;
                    });
        }
        for (Future<Void> client : threads.invokeAll(clients)) {
            client.get();
        }
    }

    @Test
    void fullQueueReturnsRetryAfter() throws Exception {
        byte[] photo = ServedModels.image("png", 0);
        Upload upload = new Upload("a.png", photo);
        try (UploadQueue queue =
                new UploadQueue(detector, new QueueLimits(1, 1, 64_000_000), ModelMetrics.NONE)) {
            List<Upload> two = List.of(upload, upload);
            Problem.HttpException exception =
                    assertThrows(
                            Problem.HttpException.class,
                            () -> queue.submit(two, new AtomicBoolean()));
            assertEquals(503, exception.problem().status());
            assertTrue(exception.retryAfterSeconds().orElseThrow() >= 1);
            queue.submit(List.of(upload), new AtomicBoolean()).get(0).get();
            queue.submit(List.of(upload), new AtomicBoolean()).get(0).get();
        }
    }

    @Test
    void finishesRunningRequestsOnClose() throws Exception {
        byte[] photo = ServedModels.image("png", 0);
        PredictionServer server = PredictionServer.of(detector).start();
        Client client = new Client(server);
        JsonNode expected = Client.seen(client.predict(photo));
        awaitUnderWay(client, 0);
        String head =
                "POST /predict HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                        + ("Content-Length: " + photo.length + "\r\n\r\n");
        try (Socket socket = new Socket(server.uri().getHost(), server.port())) {
            socket.getOutputStream().write(head.getBytes(ISO_8859_1));
            socket.getOutputStream().write(photo, 0, 100);
            // Closing must start after the request.
            awaitUnderWay(client, 1);
            AtomicBoolean ended = new AtomicBoolean();
            Future<?> end =
                    threads.submit(
                            () -> {
                                server.close();
                                ended.set(true);
                            });
            while (client.get("/health").statusCode() == 200) {
                Thread.sleep(10);
            }
            HttpResponse<byte[]> late = client.predict(photo);
            assertTrue(problem(503, late).contains("the server is shutting down"));
            assertTrue(late.headers().firstValue("Retry-After").isPresent());
            assertTrue(!ended.get());

            socket.getOutputStream().write(photo, 100, photo.length - 100);

            String said = new String(socket.getInputStream().readAllBytes(), UTF_8);
            assertTrue(said.startsWith("HTTP/1.1 200 "), said);
            assertTrue(said.endsWith(expected.toString()), said);
            end.get();
        }
        assertThrows(ConnectException.class, () -> new Client(server).get("/health"));
        assertEquals(detector.detect(photo), detector.detect(photo));
    }

    private static void awaitUnderWay(Client client, int requests) throws Exception {
        while (!Client.text(client.get("/metrics")).contains("in_flight " + requests + ".0")) {
            Thread.sleep(10);
        }
    }

    @Test
    void closeUnderLoadLosesNoResponse() throws Exception {
        byte[] photo = ServedModels.image("png", 0);
        PredictionServer server = PredictionServer.of(detector).maxBatch(1).start();
        JsonNode expected = Client.seen(new Client(server).predict(photo));
        AtomicInteger answered = new AtomicInteger();
        AtomicBoolean closing = new AtomicBoolean();
        List<Future<Integer>> clients = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            clients.add(
                    threads.submit(
                            () -> askUntilClosed(server, photo, expected, answered, closing)));
        }
        while (answered.get() < 50) {
            Thread.sleep(10);
        }
        closing.set(true);
        server.close();
        for (Future<Integer> client : clients) {
            int last = client.get();
            assertTrue(last == 503 || last == 0, "status " + last);
        }
    }

    /**
     * Returns the status of the first rejected request after closing began, or 0 without a server;
     * repeats requests that a busy server rejects before.
     */
    private static int askUntilClosed(
            PredictionServer server,
            byte[] photo,
            JsonNode expected,
            AtomicInteger answered,
            AtomicBoolean closing)
            throws Exception {
        Client client = new Client(server);
        while (true) {
            HttpResponse<byte[]> answer;
            try {
                answer = client.predict(photo);
            } catch (IOException e) {
                return 0;
            }
            if (answer.statusCode() == 503 && !closing.get()) {
                Thread.sleep(10);
                continue;
            }
            if (answer.statusCode() != 200) {
                return answer.statusCode();
            }
            assertEquals(expected, Client.json(answer));
            answered.incrementAndGet();
        }
    }
}
