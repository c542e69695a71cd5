package dev.saccade.serve;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Json;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Workers;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.TrainedModel;

import org.eclipse.jetty.http.HttpStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The ML backend protocol of Label Studio, below {@code /label-studio}. Label Studio shows only the
 * status of an error, so errors are also logged.
 */
final class LabelStudioBackend implements AutoCloseable {

    static final String PREFIX = "/label-studio";

    private static final Logger LOG = LoggerFactory.getLogger(LabelStudioBackend.class);

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private static final int MAX_TASKS = 10_000;
    private static final int MAX_TOKENS = 1_000_000;

    private static final int DOWNLOADS = 4;

    private static final long RETRY_MILLIS = 200;

    /** Predictions of a task, or the reason why there are none. */
    private record TaskResult(Map<String, Object> json, String error) {}

    private final TrainedModel<?> model;
    private final String name;
    private final String version;
    private final double defaultScore;
    private final UploadQueue queue;
    private final Duration timeout;
    private final LabelStudioImages images;
    private final Workers workers = new Workers("serve-label-studio", DOWNLOADS);

    LabelStudioBackend(
            LabelStudio studio,
            TrainedModel<?> model,
            ModelInfo facts,
            ServerLimits limits,
            UploadQueue queue) {
        this.model = model;
        this.name = facts.name();
        this.version = facts.name() + " " + facts.modelVersion();
        this.defaultScore = facts.defaultScore();
        this.queue = queue;
        this.timeout = limits.timeout();
        this.images = new LabelStudioImages(studio, limits);
    }

    static boolean owns(String path) {
        return path.equals(PREFIX) || path.startsWith(PREFIX + "/");
    }

    /** Returns whether a path accepts POST instead of GET; rejects unknown paths. */
    static boolean posts(String path) {
        return switch (path.substring(PREFIX.length())) {
            case "/health", "/versions" -> false;
            case "/setup", "/predict", "/webhook", "/train" -> true;
            default ->
                    throw Problem.exception(
                            HttpStatus.NOT_FOUND_404,
                            "%s: not found; expected the URL of the ML backend to end with %s",
                            path,
                            PREFIX);
        };
    }

    void get(String path, Exchange exchange) {
        exchange.sendJson(
                path.endsWith("/health")
                        ? Map.of("status", "UP", "model_class", name)
                        : Map.of("versions", List.of(version)));
    }

    /** Responds to the body of a POST request. */
    void post(String path, byte[] body, Exchange exchange) {
        try {
            JsonNode json = parse(body);
            switch (path.substring(PREFIX.length())) {
                case "/setup" -> setUp(json, exchange);
                case "/predict" -> predict(json, exchange);
                default -> respondToEvent(path, json, exchange);
            }
        } catch (Problem.HttpException e) {
            LOG.warn("{}: {}", path, Printable.line(e.getMessage()));
            throw e;
        }
    }

    private static JsonNode parse(byte[] body) {
        requireFewTokens(body);
        try (JsonParser parser = Json.parser(new ByteArrayInputStream(body))) {
            JsonNode json = MAPPER.readTree(parser);
            if (json != null && json.isObject()) {
                return json;
            }
        } catch (IOException e) {
            throw Problem.badRequest("the body is not valid JSON: %s", e.getMessage());
        }
        throw Problem.badRequest("the body is not a JSON object");
    }

    /** Limits the memory of the parsed body. */
    private static void requireFewTokens(byte[] body) {
        try (JsonParser parser = Json.parser(new ByteArrayInputStream(body))) {
            for (int tokens = 0; parser.nextToken() != null; tokens++) {
                if (tokens == MAX_TOKENS) {
                    throw Problem.exception(
                            HttpStatus.PAYLOAD_TOO_LARGE_413,
                            "the body has more than %d JSON tokens; select fewer tasks",
                            MAX_TOKENS);
                }
            }
        } catch (IOException e) {
            throw Problem.badRequest("the body is not valid JSON: %s", e.getMessage());
        }
    }

    private void setUp(JsonNode json, Exchange exchange) {
        LabelingConfig config = LabelingConfig.of(json.path("schema").asText(), model);
        List<String> missing =
                model.classes().stream().filter(label -> !config.hasLabel(label)).toList();
        if (missing.size() == model.classes().size()) {
            throw Problem.badRequest(
                    "labeling config: %s has none of the classes %s; add them as labels",
                    config.name(), String.join(", ", missing));
        } else if (!missing.isEmpty()) {
            LOG.warn(
                    "labeling config: {} lacks the classes {}; their predictions are left out",
                    Printable.line(config.name()),
                    Printable.line(String.join(", ", missing)));
        }
        exchange.sendJson(Map.of("model_version", version));
    }

    /** Rejects requests to train, and confirms changes of annotations, which need no response. */
    private static void respondToEvent(String path, JsonNode json, Exchange exchange) {
        String action = json.path("action").asText();
        if (path.endsWith("/train") || action.equals("START_TRAINING")) {
            throw Problem.exception(
                    HttpStatus.NOT_IMPLEMENTED_501,
                    "this server does not train; export the project as JSON, run convert-data and"
                            + " train, and serve the new run");
        }
        exchange.sendJson(Map.of("status", "ignored", "action", action));
    }

    private void predict(JsonNode json, Exchange exchange) {
        LabelingConfig config = LabelingConfig.of(json.path("label_config").asText(), model);
        JsonNode tasks = json.path("tasks");
        if (!tasks.isArray() || tasks.isEmpty() || tasks.size() > MAX_TASKS) {
            throw Problem.badRequest(
                    "tasks: expected a list of 1 to %d tasks; select fewer tasks", MAX_TASKS);
        }
        AtomicBoolean disconnected = new AtomicBoolean();
        exchange.request().addFailureListener(failure -> disconnected.set(true));
        TaskResult[] results = new TaskResult[tasks.size()];
        AtomicInteger pending = new AtomicInteger(results.length);
        CompletableFuture<Void> done = new CompletableFuture<>();
        for (int i = 0; i < results.length; i++) {
            int index = i;
            Future<?> unused =
                    workers.submit(
                            () -> {
                                results[index] = result(tasks.get(index), config, disconnected);
                                if (pending.decrementAndGet() == 0) {
                                    done.complete(null);
                                }
                                return null;
                            });
        }
        exchange.sendProblemOnFailure(
                done.thenRun(() -> exchange.sendJson(response(List.of(results)))));
    }

    /** Returns the results of all tasks; fails if no task has a result. */
    private Map<String, Object> response(List<TaskResult> results) {
        results.stream()
                .filter(result -> result.json == null)
                .forEach(result -> LOG.warn("{}", Printable.line(result.error)));
        if (results.stream().allMatch(result -> result.json == null)) {
            throw Problem.exception(
                    HttpStatus.UNPROCESSABLE_ENTITY_422, "%s", results.get(0).error);
        }
        List<Map<String, Object>> entries = new ArrayList<>();
        for (TaskResult result : results) {
            entries.add(result.json == null ? Map.of("error", result.error) : result.json);
        }
        return ImmutableMap.of("results", entries, "model_version", version);
    }

    private TaskResult result(JsonNode task, LabelingConfig config, AtomicBoolean disconnected) {
        String place = "task " + task.path("id").asText("?");
        try {
            JsonNode reference = task.path("data").path(config.dataKey());
            if (!reference.isTextual()) {
                throw SaccadeException.user(
                        "data has no text %s, the image of the labeling config", config.dataKey());
            }
            if (disconnected.get()) {
                throw SaccadeException.user("Label Studio has disconnected");
            }
            Upload image = new Upload(reference.asText(), images.fetch(reference.asText()));
            UploadQueue.Predicted predicted = submit(image, disconnected);
            predicted
                    .warnings()
                    .forEach(warning -> LOG.warn("{}: {}", place, Printable.line(warning)));
            return new TaskResult(
                    LabelStudioResult.of(
                            predicted,
                            config,
                            model.classes(),
                            ScoreThresholds.of(defaultScore),
                            version),
                    "");
        } catch (SaccadeException | Problem.HttpException e) {
            return new TaskResult(null, place + ": " + e.getMessage());
        } catch (CompletionException e) {
            return new TaskResult(null, place + ": " + Exchange.exception(e).getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new TaskResult(null, place + ": the server is shutting down");
        } catch (RuntimeException | Error e) {
            LOG.error("{}: failed", place, e);
            return new TaskResult(null, place + ": failed; see the log of the server");
        }
    }

    /** Predicts an image; waits while the queue is full, because Label Studio does not retry. */
    private UploadQueue.Predicted submit(Upload image, AtomicBoolean disconnected)
            throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            try {
                return queue.submit(List.of(image), disconnected).get(0).join();
            } catch (Problem.HttpException e) {
                boolean isBusy = e.retryAfterSeconds().isPresent();
                if (!isBusy || disconnected.get() || System.nanoTime() - end > 0) {
                    throw e;
                }
                Thread.sleep(RETRY_MILLIS);
            }
        }
    }

    @Override
    public void close() {
        workers.close();
    }
}
