package dev.saccade.serve;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Version;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.TrainedModel;

import org.eclipse.jetty.http.HttpStatus;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The Open Inference Protocol (KServe V2) over HTTP, with its binary tensor extension. */
final class InferenceProtocol {

    static final String PREFIX = "/v2";

    private static final Pattern MODEL =
            Pattern.compile(
                    "/v2/models/([^/]+)(?:/versions/([^/]+))?(/ready|/infer)?", Pattern.DOTALL);

    private final TrainedModel<?> model;
    private final String name;
    private final String version;
    private final double defaultScore;
    private final ServerLimits limits;
    private final UploadQueue queue;
    private final RequestTracker tracker;
    private final List<OutputTensor> outputs;

    InferenceProtocol(
            TrainedModel<?> model,
            ModelInfo facts,
            ServerLimits limits,
            UploadQueue queue,
            RequestTracker tracker) {
        this.model = model;
        this.name = facts.name();
        this.version = facts.modelVersion();
        this.defaultScore = facts.defaultScore();
        this.limits = limits;
        this.queue = queue;
        this.tracker = tracker;
        this.outputs = InferOutputs.describe(model);
    }

    /** Returns whether a path belongs to the protocol. */
    static boolean owns(String path) {
        return path.equals(PREFIX) || path.startsWith(PREFIX + "/");
    }

    static boolean isInfer(String path) {
        return owns(path) && path.endsWith("/infer");
    }

    /** Responds to a GET request; {@code path} has no percent encoding. */
    void get(String path, Exchange exchange) {
        switch (path) {
            case "/v2", "/v2/" -> exchange.sendJson(server());
            case "/v2/health/live" -> exchange.sendJson(Map.of("live", true));
            case "/v2/health/ready" -> {
                tracker.requireOpen();
                exchange.sendJson(Map.of("ready", true));
            }
            default -> {
                if (requireModel(path).equals("/ready")) {
                    tracker.requireOpen();
                    exchange.sendJson(Map.of("name", name, "ready", true));
                } else {
                    exchange.sendJson(model());
                }
            }
        }
    }

    /** Responds to the body of an inference request. */
    void infer(String path, byte[] body, Exchange exchange) {
        requireModel(path);
        String length = exchange.request().getHeaders().get(InferRequest.JSON_LENGTH);
        InferRequest request = InferRequest.parse(body, length, limits);
        ScoreThresholds thresholds = thresholds(request.score());
        InferResponse.requireKnown(request, outputs);
        AtomicBoolean disconnected = new AtomicBoolean();
        exchange.request().addFailureListener(failure -> disconnected.set(true));
        List<CompletableFuture<UploadQueue.Predicted>> results =
                queue.submit(request.images(), disconnected);
        exchange.sendProblemOnFailure(
                CompletableFuture.allOf(results.toArray(CompletableFuture[]::new))
                        .thenAccept(done -> send(request, results, thresholds, exchange)));
    }

    private ScoreThresholds thresholds(String score) {
        return PredictOptions.thresholds(
                score,
                defaultScore,
                model,
                problem -> {
                    throw Problem.badRequest("parameters.%s", problem);
                });
    }

    private void send(
            InferRequest request,
            List<CompletableFuture<UploadQueue.Predicted>> results,
            ScoreThresholds thresholds,
            Exchange exchange) {
        List<UploadQueue.Predicted> images = results.stream().map(CompletableFuture::join).toList();
        Map<String, Object> header = new LinkedHashMap<>();
        header.put("model_name", name);
        header.put("model_version", version);
        List<String> warnings = new ArrayList<>();
        for (int i = 0; i < images.size(); i++) {
            for (String warning : images.get(i).warnings()) {
                warnings.add(InferTensor.NAME + "[" + i + "]: " + warning);
            }
        }
        if (!warnings.isEmpty()) {
            header.put("parameters", Map.of("warnings", String.join("; ", warnings)));
        }
        InferResponse response =
                InferResponse.of(
                        request,
                        header,
                        InferOutputs.of(
                                images,
                                model.classes(),
                                thresholds,
                                ModelInfo.hasMasks(model),
                                limits.pixels()),
                        exchange::reserve);
        response.jsonLength()
                .ifPresent(length -> exchange.headers().put(InferRequest.JSON_LENGTH, length));
        exchange.send(
                HttpStatus.OK_200,
                response.jsonLength().isPresent()
                        ? "application/octet-stream"
                        : JsonBody.MEDIA_TYPE,
                response.body());
    }

    private static Map<String, Object> server() {
        return ImmutableMap.of(
                "name",
                "saccade",
                "version",
                Version.saccade(),
                "extensions",
                List.of("binary_tensor_data"));
    }

    private Map<String, Object> model() {
        return ImmutableMap.of(
                "name",
                name,
                "versions",
                List.of(version),
                "platform",
                "saccade",
                "inputs",
                List.of(
                        Map.of(
                                "name",
                                InferTensor.NAME,
                                "datatype",
                                "BYTES",
                                "shape",
                                List.of(-1))),
                "outputs",
                outputs.stream().map(InferOutputs::metadata).toList());
    }

    /** Rejects unknown paths, models and versions; returns what follows the model. */
    private String requireModel(String path) {
        Matcher parts = MODEL.matcher(path);
        if (!parts.matches()) {
            throw Problem.exception(
                    HttpStatus.NOT_FOUND_404,
                    "%s: not found; expected /v2, /v2/health/live, /v2/health/ready or"
                            + " /v2/models/%s",
                    path,
                    name);
        }
        if (!parts.group(1).equals(name)) {
            throw Problem.exception(
                    HttpStatus.NOT_FOUND_404,
                    "unknown model %s; expected %s",
                    parts.group(1),
                    name);
        }
        String wanted = Optional.ofNullable(parts.group(2)).orElse(version);
        if (!wanted.equals(version)) {
            throw Problem.exception(
                    HttpStatus.NOT_FOUND_404,
                    "unknown version %s of model %s; expected %s",
                    wanted,
                    name,
                    version);
        }
        return Optional.ofNullable(parts.group(3)).orElse("");
    }
}
