package dev.saccade.train.mlflow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.google.common.collect.ImmutableMap;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a tracking server of MLflow is asked, by its REST interface 2.0.
 *
 * <p>MLflow's own client for Java would do, but for files: it starts MLflow's program in Python to
 * hand them over.
 */
final class MlflowServer {

    /** The most that a server waits for; a training stands still so long where one is away. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final String API = "/api/2.0/mlflow/";
    private static final String FILES = "mlflow-artifacts:";
    private static final JsonMapper JSON = new JsonMapper();

    private final URI uri;
    private final Optional<String> token;
    private final HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build();

    /**
     * Asks nothing yet.
     *
     * @param token sent with each request, as MLflow's own clients do
     */
    MlflowServer(URI uri, Optional<String> token) {
        this.uri = uri;
        this.token = token;
    }

    /** Returns the identity of an experiment, which is made where there is none of the name. */
    String experiment(String name) throws IOException {
        String query = URLEncoder.encode(name, StandardCharsets.UTF_8);
        Optional<JsonNode> found = get("experiments/get-by-name?experiment_name=" + query);
        if (found.isPresent()) {
            return found.get().path("experiment").path("experiment_id").asText();
        }
        return post("experiments/create", ImmutableMap.of("name", name))
                .path("experiment_id")
                .asText();
    }

    /** Starts a run and returns its identity. */
    String createRun(String experiment, String name, long time) throws IOException {
        return post(
                        "runs/create",
                        ImmutableMap.of(
                                "experiment_id", experiment, "run_name", name, "start_time", time))
                .path("run")
                .path("info")
                .path("run_id")
                .asText();
    }

    /** Returns whether there is such a run. */
    boolean hasRun(String run) throws IOException {
        return get("runs/get?run_id=" + run).isPresent();
    }

    /** Tells a run's state, which is one of MLflow's. */
    void update(String run, String status, Optional<Long> end) throws IOException {
        ImmutableMap.Builder<String, Object> request = ImmutableMap.builder();
        request.put("run_id", run).put("status", status);
        end.ifPresent(time -> request.put("end_time", time));
        post("runs/update", request.buildOrThrow());
    }

    /**
     * Adds to a run.
     *
     * @param metrics at most 1000
     * @param params at most 100; those that are there already must be the same
     */
    void log(
            String run,
            List<Map<String, Object>> metrics,
            List<Map<String, Object>> params,
            List<Map<String, Object>> tags)
            throws IOException {
        post(
                "runs/log-batch",
                ImmutableMap.of("run_id", run, "metrics", metrics, "params", params, "tags", tags));
    }

    /**
     * Hands a file over, if the server takes files itself; it does not where it tells clients to
     * write them to a store of their own.
     */
    void upload(String run, Path file) throws IOException {
        String store =
                get("runs/get?run_id=" + run)
                        .map(found -> found.path("run").path("info").path("artifact_uri").asText())
                        .orElse("");
        if (store.startsWith(FILES)) {
            String path = URI.create(store).getPath() + "/" + file.getFileName();
            send(
                    request("/api/2.0/mlflow-artifacts/artifacts" + path)
                            .PUT(BodyPublishers.ofFile(file)));
        }
    }

    private Optional<JsonNode> get(String call) throws IOException {
        HttpResponse<String> response = answer(request(API + call).GET());
        if (response.statusCode() == 404) {
            return Optional.empty();
        }
        return Optional.of(JSON.readTree(checked(response)));
    }

    private JsonNode post(String call, Map<String, ?> content) throws IOException {
        BodyPublisher body = BodyPublishers.ofString(JSON.writeValueAsString(content));
        return JSON.readTree(send(request(API + call).POST(body)));
    }

    private HttpRequest.Builder request(String call) {
        String root = uri.toString().replaceAll("/+$", "");
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(root + call))
                        .timeout(PATIENCE)
                        .header("Content-Type", "application/json");
        token.ifPresent(secret -> request.header("Authorization", "Bearer " + secret));
        return request;
    }

    private String send(HttpRequest.Builder request) throws IOException {
        return checked(answer(request));
    }

    private static String checked(HttpResponse<String> response) throws IOException {
        if (response.statusCode() / 100 != 2) {
            throw new IOException("answers " + response.statusCode() + ": " + response.body());
        }
        return response.body();
    }

    private HttpResponse<String> answer(HttpRequest.Builder request) throws IOException {
        try {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
