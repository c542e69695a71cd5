package dev.saccade.mlflow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.train.Outcome;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import javax.imageio.ImageIO;

/** Runs that tell a server, which keeps what a tracking server of MLflow would. */
class MlflowHookTest {

    private static final String CONFIG =
            """
            model:
              backbone: {type: resnet, depth: 18, stem_channels: 8, base_channels: 8}
              neck: {type: fpn, out_channels: 16, start_level: 1, num_outs: 3}
              head: {type: retinanet, feat_channels: 16, stacked_convs: 1}
            data:
              train: {type: coco, annotations: labels.json, images: .}
              val: {type: coco, annotations: labels.json, images: .}
              train_transforms: [{type: normalize}, {type: pad}]
              val_transforms: [{type: normalize}, {type: pad}]
            optimizer: {type: adamw, learning_rate: 0.001}
            schedule: {type: constant}
            epochs: 2
            """;

    private static final JsonMapper JSON = new JsonMapper();

    @TempDir Path folder;

    private HttpServer server;
    private boolean busy;
    private boolean refusesParams;
    private String artifacts = "mlflow-artifacts:/7/r1";
    private int runs;
    private final List<String> statuses = new ArrayList<>();
    private final Map<String, List<Long>> steps = new LinkedHashMap<>();
    private final Map<String, String> params = new LinkedHashMap<>();
    private final Map<String, String> tags = new LinkedHashMap<>();
    private final Map<String, String> files = new LinkedHashMap<>();
    private final Set<String> experiments = new TreeSet<>();

    private final List<String> notes = new ArrayList<>();
    private final Hook listening =
            new Hook() {
                @Override
                public void onLog(String line) {
                    if (line.contains("MLflow")) {
                        notes.add(line);
                    }
                }
            };

    private void writeData() throws IOException {
        StringBuilder images = new StringBuilder();
        StringBuilder boxes = new StringBuilder();
        for (int i = 1; i <= 6; i++) {
            BufferedImage image = new BufferedImage(40, 32, BufferedImage.TYPE_INT_RGB);
            ImageIO.write(image, "png", folder.resolve(i + ".png").toFile());
            String comma = i == 1 ? "" : ",";
            images.append(
                    Text.format(
                            "%s{\"id\": %d, \"file_name\": \"%d.png\", \"width\": 40, \"height\": 32}",
                            comma, i, i));
            boxes.append(
                    Text.format(
                            "%s{\"id\": %d, \"image_id\": %d, \"category_id\": 1, \"iscrowd\": 0,"
                                    + " \"area\": 320, \"bbox\": [%d, 4, 16, 20]}",
                            comma, i, i, 2 * i));
        }
        Files.writeString(
                folder.resolve("labels.json"),
                Text.format(
                        "{\"images\": [%s], \"annotations\": [%s], \"categories\": [{\"id\": 1,"
                                + " \"name\": \"cell\"}]}",
                        images, boxes));
    }

    private RunConfig config(String... overrides) {
        return RunConfig.parse(CONFIG).with("data.root=" + folder).with(overrides);
    }

    @BeforeEach
    void start() throws IOException {
        writeData();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body =
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            String path = exchange.getRequestURI().getPath();
            boolean rejected = refusesParams && body.contains("\"params\":[{");
            String answer = busy || rejected ? null : answer(path, body);
            byte[] bytes = (answer == null ? "{}" : answer).getBytes(StandardCharsets.UTF_8);
            int status = busy ? 503 : rejected ? 400 : answer == null ? 404 : 200;
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    private String answer(String path, String body) throws IOException {
        String stored = "/api/2.0/mlflow-artifacts/artifacts/";
        if (path.startsWith(stored)) {
            files.put(path.substring(stored.length()), body);
            return "{}";
        }
        JsonNode request = JSON.readTree(body.isEmpty() ? "{}" : body);
        return switch (path.substring("/api/2.0/mlflow/".length())) {
            case "experiments/get-by-name" ->
                    experiments.isEmpty() ? null : "{\"experiment\": {\"experiment_id\": \"7\"}}";
            case "experiments/create" -> {
                experiments.add(request.path("name").asText());
                yield "{\"experiment_id\": \"7\"}";
            }
            case "runs/create" -> {
                assertEquals("7", request.path("experiment_id").asText());
                runs++;
                yield "{\"run\": {\"info\": {\"run_id\": \"r" + runs + "\"}}}";
            }
            case "runs/get" ->
                    String.format(
                            Locale.ROOT,
                            "{\"run\": {\"info\": {\"artifact_uri\": \"%s\"}}}",
                            artifacts);
            case "runs/update" -> {
                statuses.add(request.path("status").asText());
                yield "{}";
            }
            case "runs/log-batch" -> {
                keep(request);
                yield "{}";
            }
            default -> throw new AssertionError(path);
        };
    }

    private void keep(JsonNode batch) {
        assertEquals("r1", batch.path("run_id").asText());
        assertTrue(batch.path("params").size() <= 100, "params at once");
        for (JsonNode metric : batch.path("metrics")) {
            steps.computeIfAbsent(metric.path("key").asText(), key -> new ArrayList<>())
                    .add(metric.path("step").asLong());
        }
        batch.path("params").forEach(each -> put(params, each));
        batch.path("tags").forEach(each -> put(tags, each));
    }

    private static void put(Map<String, String> all, JsonNode entry) {
        all.put(entry.path("key").asText(), entry.path("value").asText());
    }

    private Training training(String... overrides) throws IOException {
        int port = server.getAddress().getPort();
        return Training.of(
                config(overrides)
                        .with(
                                Text.format(
                                        "hooks=[{type: mlflow, uri: 'http://127.0.0.1:%d/'}]",
                                        port)));
    }

    @Test
    void logsARun() throws IOException {
        Path run = folder.resolve("run");
        training().start(run);
        assertEquals(Set.of("saccade"), experiments);
        assertEquals(List.of(1L, 2L, 3L, 4L, 5L, 6L), steps.get("train/loss").subList(0, 6));
        assertTrue(
                steps.keySet().stream().anyMatch(name -> name.startsWith("eval/")),
                steps.keySet().toString());
        assertEquals("retinanet", params.get("model.head.type"));
        assertEquals("0.001", params.get("optimizer.learning_rate"));
        assertEquals(
                new RunFolder(run).best().toAbsolutePath().toString(), tags.get("best_checkpoint"));
        assertEquals(Files.readString(new RunFolder(run).config()), files.get("7/r1/config.yaml"));
        assertEquals(List.of("FINISHED"), statuses);
    }

    @Test
    void resumesTheSameMlflowRun() throws IOException {
        Path run = folder.resolve("run");
        Hook failing =
                new Hook() {
                    @Override
                    public void beforeStep(Run taken) {
                        if (taken.epoch() == 1) {
                            throw new IllegalStateException("on purpose");
                        }
                    }
                };
        assertThrows(SaccadeException.class, () -> training().start(run, failing));
        assertEquals(List.of("FAILED"), statuses);
        training().resume(run);
        assertEquals(List.of("FAILED", "RUNNING", "FINISHED"), statuses);
        assertEquals(1, runs);
    }

    @Test
    void unreachableServerIsReportedOnce() throws IOException {
        busy = true;
        Hook mending =
                new Hook() {
                    @Override
                    public void afterEpoch(Run run) {
                        busy = run.epoch() == 1;
                    }
                };
        assertEquals(Outcome.FINISHED, training().start(folder.resolve("run"), listening, mending));
        assertEquals(1, notes.size(), notes.toString());
        assertTrue(notes.get(0).contains("HTTP status 503"), notes.get(0));
        assertEquals(1L, steps.get("train/loss").get(0), "what was missed is sent later");
        assertEquals(List.of("FINISHED"), statuses);
    }

    @Test
    void skipsRejectedValues() throws IOException {
        refusesParams = true;
        assertEquals(Outcome.FINISHED, training().start(folder.resolve("run"), listening));
        assertEquals(1, runs);
        assertEquals(1, notes.size(), notes.toString());
        assertTrue(notes.get(0).contains("rejected some values"), notes.get(0));
        assertEquals(Map.of(), params);
        assertEquals(1L, steps.get("train/loss").get(0));
        assertEquals(List.of("FINISHED"), statuses);
    }

    @ParameterizedTest
    @CsvSource({
        "mlflow-artifacts://elsewhere:5000/7/r1, 7/r1/config.yaml",
        "mlflow-artifacts:7/r1, 7/r1/config.yaml",
        "s3://bucket/7, none",
        "mlflow-artifacts:/7/a%zz, none",
        "'', none"
    })
    void oddPlacesOfFilesStopNothing(String place, String stored) throws IOException {
        artifacts = place;
        assertEquals(Outcome.FINISHED, training().start(folder.resolve("run"), listening));
        assertEquals(!stored.equals("none"), files.containsKey(stored), files.toString());
        assertEquals(place.contains("%") ? 1 : 0, notes.size(), notes.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost:5000", "http://ml_flow:5000", "http://[1", "ftp://host"})
    void rejectsAnInvalidUrl(String uri) {
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                config().with(
                                                String.format(
                                                        Locale.ROOT,
                                                        "hooks=[{type: mlflow, uri: '%s'}]",
                                                        uri)));
        assertTrue(e.getMessage().contains("a server URL"), e.getMessage());
    }

    @Test
    void rejectsAnInvalidTokenWithoutShowingIt() {
        System.setProperty("MLFLOW_TRACKING_TOKEN", "se\ncret");
        try {
            Path run = folder.resolve("run");
            SaccadeException e = assertThrows(SaccadeException.class, () -> training().start(run));
            assertTrue(
                    e.getMessage().startsWith("MLFLOW_TRACKING_TOKEN: contains"), e.getMessage());
            assertFalse(e.getMessage().contains("cret"), e.getMessage());
        } finally {
            System.clearProperty("MLFLOW_TRACKING_TOKEN");
        }
    }
}
