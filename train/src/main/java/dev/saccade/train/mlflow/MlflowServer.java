package dev.saccade.train.mlflow;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.google.common.annotations.VisibleForTesting;
import com.google.common.base.Ascii;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.ServerFault;
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
 * What a tracking server of MLflow is asked, by its REST interface 2.0.
 *
 * <p>MLflow's own client for Java would do, but for files: it starts MLflow's program in Python to
 * hand them over.
 */
final class MlflowServer {

    /** The most that a server waits for; a training stands still so long where one is away. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int MOST_BYTES = 1 << 20;
    private static final int MOST_SHOWN = 300;

    private static final String API = "/api/2.0/mlflow/";

    /** Where a server keeps files itself; there may be a host before the path. */
    private static final Pattern FILES = Pattern.compile("mlflow-artifacts:(?://[^/]*)?/?(.+)");

    private static final JsonMapper JSON = new JsonMapper();

    /** What is sent will be refused at all times. */
    static final class Refusal extends IOException {

        private static final long serialVersionUID = 1L;

        private Refusal(String message) {
            super(message);
        }
    }

    private final String root;
    private final Optional<String> token;
    private final Duration patience;
    private final HttpClient client = HttpClient.newHttpClient();

    /**
     * Asks nothing yet.
     *
     * @param token sent with each request, as MLflow's own clients do
     */
    MlflowServer(String uri, Optional<String> token) {
        this(uri, token, PATIENCE);
    }

    /** Likewise, but gives up on a server that has not answered for some time. */
    @VisibleForTesting
    MlflowServer(String uri, Optional<String> token, Duration patience) {
        this.root = uri.replaceAll("/+$", "");
        this.token = token;
        this.patience = patience;
    }

    /** Returns the identity of an experiment, which is made where there is none of the name. */
    String experiment(String name) throws IOException {
        String query = URLEncoder.encode(name, UTF_8);
        Optional<JsonNode> found = get("experiments/get-by-name?experiment_name=" + query);
        if (found.isPresent()) {
            return text(found.get(), "/experiment/experiment_id");
        }
        return text(post("experiments/create", ImmutableMap.of("name", name)), "/experiment_id");
    }

    /** Starts a run and returns its identity. */
    String createRun(String experiment, String name, long time) throws IOException {
        JsonNode created =
                post(
                        "runs/create",
                        ImmutableMap.of(
                                "experiment_id", experiment, "run_name", name, "start_time", time));
        return text(created, "/run/info/run_id");
    }

    private static String text(JsonNode answer, String place) throws ServerFault {
        String found = answer.at(place).asText();
        if (found.isEmpty()) {
            throw new ServerFault("answers without " + place.substring(1) + "; is it MLflow?");
        }
        return found;
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
        Matcher store =
                FILES.matcher(
                        get("runs/get?run_id=" + run)
                                .map(found -> found.at("/run/info/artifact_uri").asText())
                                .orElse(""));
        if (store.matches()) {
            String path = store.group(1) + "/" + file.getFileName();
            send(
                    request("/api/2.0/mlflow-artifacts/artifacts/" + path)
                            .PUT(BodyPublishers.ofFile(file)));
        }
    }

    private Optional<JsonNode> get(String call) throws IOException {
        HttpResponse<String> response = answer(request(API + call).GET());
        if (response.statusCode() == 404) {
            return Optional.empty();
        }
        return Optional.of(json(checked(response)));
    }

    private JsonNode post(String call, Map<String, ?> content) throws IOException {
        BodyPublisher body = BodyPublishers.ofString(JSON.writeValueAsString(content));
        return json(send(request(API + call).POST(body)));
    }

    private static JsonNode json(String answer) throws IOException {
        try {
            return JSON.readTree(answer);
        } catch (JsonProcessingException e) {
            throw new ServerFault("answers with what is no JSON; is it MLflow?");
        }
    }

    private HttpRequest.Builder request(String call) throws ServerFault {
        HttpRequest.Builder request;
        try {
            request = HttpRequest.newBuilder(URI.create(root + call));
        } catch (IllegalArgumentException e) {
            throw new ServerFault("names a run or a file in a way that no address can have");
        }
        request.header("Content-Type", "application/json");
        token.ifPresent(secret -> request.header("Authorization", "Bearer " + secret));
        return request;
    }

    private String send(HttpRequest.Builder request) throws IOException {
        return checked(answer(request));
    }

    private static String checked(HttpResponse<String> response) throws IOException {
        int status = response.statusCode();
        if (status / 100 != 2) {
            String told =
                    Text.format(
                            "answers %d: %s",
                            status, Ascii.truncate(response.body(), MOST_SHOWN, "..."));
            throw status == 400 ? new Refusal(told) : new ServerFault(told);
        }
        return response.body();
    }

    private HttpResponse<String> answer(HttpRequest.Builder request) throws IOException {
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request.build(), info -> shortText());
        try {
            return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw ServerFault.of(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ServerFault("the run is being ended");
        } finally {
            answer.cancel(true);
        }
    }

    private static HttpResponse.BodySubscriber<String> shortText() {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        return HttpResponse.BodySubscribers.mapping(
                HttpResponse.BodySubscribers.ofByteArrayConsumer(
                        piece ->
                                piece.ifPresent(
                                        bytes -> {
                                            if (body.size() + bytes.length > MOST_BYTES) {
                                                throw new UncheckedIOException(
                                                        new ServerFault("answers without end"));
                                            }
                                            body.writeBytes(bytes);
                                        })),
                end -> body.toString(UTF_8));
    }
}
