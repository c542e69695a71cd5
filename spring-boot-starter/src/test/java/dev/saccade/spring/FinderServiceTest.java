package dev.saccade.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.datasets.transforms.Resize;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.testsupport.TestImages;
import dev.saccade.testsupport.TinyModel;

import org.example.Finder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Runs the service of {@code spring.md}. */
@Timeout(120)
class FinderServiceTest {

    /** Properties of the page besides the model. */
    static final Map<String, String> PROPERTIES =
            Map.of(
                    "saccade.scores", "0.01",
                    "management.endpoints.web.exposure.include", "health,prometheus,saccade");

    private static final int CLIENTS = 8;
    private static final byte[] IMAGE = TestImages.encode("png", 96, 64, 3);
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    @TempDir private static Path folder;
    private static Path checkpoint;
    private static ConfigurableApplicationContext service;
    private static List<DetectedObject> expected;

    @BeforeAll
    static void start() {
        checkpoint = save(folder.resolve("detector.safetensors"), List.of("a", "b"));
        try (Detector detector = Detector.load(checkpoint)) {
            expected = detector.detect(IMAGE, 0.01);
        }
        assertFalse(expected.isEmpty());
        service = run();
    }

    private static Path save(Path file, List<String> classes) {
        Resize resize =
                new Resize(List.of(List.of(128, 96)), Resize.Mode.VALUE, true, List.of(), 1);
        return TinyModel.RETINANET.save(file, classes, resize);
    }

    private static ConfigurableApplicationContext run() {
        List<String> arguments = new ArrayList<>();
        PROPERTIES.forEach((key, value) -> arguments.add("--" + key + "=" + value));
        arguments.add("--saccade.model=" + checkpoint);
        arguments.add("--server.port=0");
        return SpringApplication.run(Finder.class, arguments.toArray(String[]::new));
    }

    @AfterAll
    static void stop() {
        service.close();
    }

    private static HttpResponse<String> send(
            ConfigurableApplicationContext to, String path, HttpRequest.Builder request)
            throws IOException, InterruptedException {
        String port = to.getEnvironment().getProperty("local.server.port");
        return HTTP.send(
                request.uri(URI.create("http://localhost:" + port + path)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static HttpResponse<String> predict(byte[] image) throws Exception {
        return send(
                service,
                "/objects",
                HttpRequest.newBuilder()
                        .header("Content-Type", "image/png")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(image)));
    }

    private static String get(String path) throws Exception {
        return send(service, path, HttpRequest.newBuilder()).body();
    }

    private static HttpResponse<String> reload(String model) throws Exception {
        return send(
                service,
                "/actuator/saccade/" + model,
                HttpRequest.newBuilder()
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.noBody()));
    }

    /** Returns a metric of the model; 0 before the first image. */
    private static double metric(String name, String tags) throws Exception {
        return Pattern.compile(
                        "^" + name + "\\{" + tags + "model=\"saccadeModel\"\\} (\\S+)$",
                        Pattern.MULTILINE)
                .matcher(get("/actuator/prometheus"))
                .results()
                .mapToDouble(line -> Double.parseDouble(line.group(1)))
                .sum();
    }

    @Test
    void returnsObjectsAndCountsThem() throws Exception {
        double images = metric("saccade_batch_size_sum", "");
        double rejected = metric("saccade_errors_total", "kind=\"user\",");
        HttpResponse<String> response = predict(IMAGE);
        assertEquals(200, response.statusCode(), response.body());
        JsonNode objects = new ObjectMapper().readTree(response.body());
        assertEquals(expected.size(), objects.size());
        assertEquals(expected.get(0).label(), objects.get(0).get("label").asText());
        assertEquals(expected.get(0).score(), objects.get(0).get("score").asDouble(), 1e-3);

        HttpResponse<String> refused = predict("no image".getBytes(UTF_8));
        assertEquals(422, refused.statusCode());
        assertTrue(refused.body().contains("is not an image"), refused.body());

        assertEquals(images + 1, metric("saccade_batch_size_sum", ""));
        assertEquals(rejected + 1, metric("saccade_errors_total", "kind=\"user\","));
        assertTrue(get("/actuator/health").contains("\"UP\""));
        String models = get("/actuator/saccade");
        assertTrue(models.contains("\"type\":\"Detector\""), models);
        assertTrue(models.matches(".*\"device\":\"(cpu|cuda:0)\".*"), models);
    }

    @Test
    void dashboardMetricsExist() throws Exception {
        predict(IMAGE);
        String text = get("/actuator/prometheus");
        String dashboard = Files.readString(Path.of("..", "docs", "grafana_dashboard.json"));
        for (MatchResult name :
                Pattern.compile("saccade_[a-z_]+").matcher(dashboard).results().toList()) {
            assertTrue(text.contains("\n" + name.group() + "{"), name.group() + ": " + text);
        }
    }

    @Test
    void reloadsUnderLoad() throws Exception {
        double before = metric("saccade_batch_size_sum", "");
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
        AtomicBoolean stop = new AtomicBoolean();
        List<Future<Integer>> counts = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            counts.add(clients.submit(() -> predictUntil(stop)));
        }
        for (int i = 0; i < 5; i++) {
            assertEquals(200, reload("saccadeModel").statusCode());
        }
        stop.set(true);
        int requests = 0;
        for (Future<Integer> count : counts) {
            requests += count.get();
        }
        clients.shutdown();
        assertEquals(before + requests, metric("saccade_batch_size_sum", ""));
    }

    private static int predictUntil(AtomicBoolean stop) throws Exception {
        int requests = 0;
        do {
            assertEquals(200, predict(IMAGE).statusCode());
            requests++;
        } while (!stop.get());
        return requests;
    }

    @Test
    void keepsModelIfTheNewOneHasOtherClasses() throws Exception {
        byte[] previous = Files.readAllBytes(checkpoint);
        save(checkpoint, List.of("a", "b", "c"));
        HttpResponse<String> refused = reload("saccadeModel");
        assertEquals(422, refused.statusCode());
        assertTrue(refused.body().contains("other classes"), refused.body());
        assertTrue(get("/actuator/saccade").contains("other classes"));
        assertEquals(200, predict(IMAGE).statusCode());
        Files.write(checkpoint, previous);
        assertEquals(200, reload("saccadeModel").statusCode());
    }

    @Test
    void finishesRequestsOnShutdown() throws Exception {
        ConfigurableApplicationContext other = run();
        HttpRequest.Builder request =
                HttpRequest.newBuilder()
                        .header("Content-Type", "image/png")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(IMAGE));
        String port = other.getEnvironment().getProperty("local.server.port");
        URI uri = URI.create("http://localhost:" + port + "/objects");
        List<CompletableFuture<HttpResponse<String>>> running = new ArrayList<>();
        send(other, "/objects", request);
        for (int i = 0; i < CLIENTS; i++) {
            running.add(
                    HTTP.sendAsync(request.uri(uri).build(), HttpResponse.BodyHandlers.ofString()));
        }
        running.get(0).get();
        other.close();
        for (CompletableFuture<HttpResponse<String>> each : running) {
            assertEquals(200, each.get().statusCode());
        }
    }
}
