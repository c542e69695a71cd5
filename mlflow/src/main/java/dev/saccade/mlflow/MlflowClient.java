package dev.saccade.mlflow;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.google.common.annotations.VisibleForTesting;
import com.google.common.base.Ascii;

import dev.saccade.core.ServerException;
import dev.saccade.core.Text;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Client of MLflow's REST API 2.0.
 *
 * <p>MLflow's Java client (2.17.2 of October 2024) is not used: it starts a Python program to
 * upload artifacts, shades an HTTP client of 2018, and blocks for a minute if the server is
 * unreachable.
 */
final class MlflowClient {

    /** Training waits at most this long for each response. */
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final int MAX_BYTES = 1 << 20;
    private static final int MAX_SHOWN = 300;

    private static final String API = "/api/2.0/mlflow/";

    /** URIs of artifacts that the server stores itself; a host may precede the path. */
    private static final Pattern FILES = Pattern.compile("mlflow-artifacts:(?://[^/]*)?/?(.+)");

    private static final JsonMapper JSON = new JsonMapper();

    /** The server rejected the request; retrying is useless. */
    static final class RejectedRequest extends IOException {

        private static final long serialVersionUID = 1L;

        private RejectedRequest(String message) {
            super(message);
        }
    }

    private final String root;
    private final String token;
    private final Duration timeout;
    private final HttpClient client = HttpClient.newHttpClient();

    /** Connects with the first request. The bearer token may be empty. */
    MlflowClient(String uri, String token) {
        this(uri, token, TIMEOUT);
    }

    @VisibleForTesting
    MlflowClient(String uri, String token, Duration timeout) {
        this.root = uri.replaceAll("/+$", "");
        this.token = token;
        this.timeout = timeout;
    }

    /** Returns the id of an experiment, which is created if missing. */
    String experiment(String name) throws IOException {
        String query = URLEncoder.encode(name, UTF_8);
        Optional<JsonNode> found = get("experiments/get-by-name?experiment_name=" + query);
        return found.isPresent()
                ? text(found.get(), "/experiment/experiment_id")
                : text(post("experiments/create", Map.of("name", name)), "/experiment_id");
    }

    String createRun(String experiment, String name) throws IOException {
        long now = System.currentTimeMillis();
        Map<String, ?> run =
                Map.of("experiment_id", experiment, "run_name", name, "start_time", now);
        return text(post("runs/create", run), "/run/info/run_id");
    }

    private static String text(JsonNode response, String path) throws ServerException {
        String found = response.at(path).asText();
        if (found.isEmpty()) {
            throw new ServerException(
                    "the response has no " + path.substring(1) + "; is this an MLflow server?");
        }
        return found;
    }

    boolean hasRun(String run) throws IOException {
        return get("runs/get?run_id=" + run).isPresent();
    }

    void updateRun(String run, String status, boolean ended) throws IOException {
        Map<String, Object> request = new HashMap<>(Map.of("run_id", run, "status", status));
        if (ended) {
            request.put("end_time", System.currentTimeMillis());
        }
        post("runs/update", request);
    }

    /**
     * Adds values to a run.
     *
     * @param kind {@code metrics} (at most 1000), {@code params} (at most 100; existing params
     *     cannot change) or {@code tags}
     */
    void logBatch(String run, String kind, List<Map<String, Object>> values) throws IOException {
        post("runs/log-batch", Map.of("run_id", run, kind, values));
    }

    /** Uploads a file, if the server stores artifacts itself. */
    void logArtifact(String run, Path file) throws IOException {
        Optional<JsonNode> found = get("runs/get?run_id=" + run);
        Matcher store =
                FILES.matcher(
                        found.map(json -> json.at("/run/info/artifact_uri").asText()).orElse(""));
        if (store.matches()) {
            String path = store.group(1) + "/" + file.getFileName();
            checked(
                    send(
                            request("/api/2.0/mlflow-artifacts/artifacts/" + path)
                                    .PUT(BodyPublishers.ofFile(file))));
        }
    }

    private Optional<JsonNode> get(String call) throws IOException {
        HttpResponse<String> response = send(request(API + call).GET());
        return response.statusCode() == 404
                ? Optional.empty()
                : Optional.of(json(checked(response)));
    }

    private JsonNode post(String call, Map<String, ?> content) throws IOException {
        BodyPublisher body = BodyPublishers.ofString(JSON.writeValueAsString(content));
        return json(checked(send(request(API + call).POST(body))));
    }

    private static JsonNode json(String response) throws IOException {
        try {
            return JSON.readTree(response);
        } catch (JsonProcessingException e) {
            throw new ServerException("the response is not JSON; is this an MLflow server?");
        }
    }

    private HttpRequest.Builder request(String call) throws ServerException {
        HttpRequest.Builder request;
        try {
            request = HttpRequest.newBuilder(URI.create(root + call));
        } catch (IllegalArgumentException e) {
            throw new ServerException(
                    "a run ID or file name contains characters that are not allowed in a URL");
        }
        request.header("Content-Type", "application/json");
        return token.isEmpty() ? request : request.header("Authorization", "Bearer " + token);
    }

    private static String checked(HttpResponse<String> response) throws IOException {
        int status = response.statusCode();
        if (status / 100 != 2) {
            String message =
                    Text.format(
                            "HTTP status %d: %s",
                            status, Ascii.truncate(response.body(), MAX_SHOWN, "..."));
            throw status == 400 ? new RejectedRequest(message) : new ServerException(message);
        }
        return response.body();
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException {
        CompletableFuture<HttpResponse<String>> response =
                client.sendAsync(request.build(), info -> shortText());
        try {
            return response.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw ServerException.of(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ServerException("the run is ending");
        } finally {
            response.cancel(true);
        }
    }

    private static HttpResponse.BodySubscriber<String> shortText() {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        return HttpResponse.BodySubscribers.mapping(
                HttpResponse.BodySubscribers.ofByteArrayConsumer(
                        piece ->
                                piece.ifPresent(
                                        bytes -> {
                                            if (body.size() + bytes.length > MAX_BYTES) {
                                                throw new UncheckedIOException(
                                                        new ServerException(
                                                                "the response is too large"));
                                            }
                                            body.writeBytes(bytes);
                                        })),
                end -> body.toString(UTF_8));
    }
}
