package dev.saccade.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.Version;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.models.ClassMap;
import dev.saccade.models.TrainedModel;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.MimeTypes;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

final class Routes extends Handler.Abstract {

    private static final String MULTIPART = "multipart/form-data";

    private static final String PREDICT = "/predict";

    /** Metrics label of inference requests of all models and versions. */
    private static final String INFER = InferenceProtocol.PREFIX + "/infer";

    private record StaticResponse(String type, String body) {}

    private final TrainedModel<?> model;
    private final double defaultScore;
    private final ServerLimits limits;
    private final UploadQueue queue;
    private final ServerMetrics metrics;
    private final ConnectionTimeout timeout;
    private final OriginFilter origins;
    private final ModelPage page = ModelPage.load();
    private final Map<String, StaticResponse> staticResponses;
    private final AtomicLong bufferedBytes = new AtomicLong();
    private final AtomicLong responseBytes = new AtomicLong();
    private final RequestTracker tracker;
    private final InferenceProtocol inference;
    private final Optional<LabelStudioBackend> labelStudio;

    Routes(
            TrainedModel<?> model,
            ModelInfo facts,
            ServerLimits limits,
            UploadQueue queue,
            ServerMetrics metrics,
            ConnectionTimeout timeout,
            OriginFilter origins,
            RequestTracker tracker,
            Optional<LabelStudioBackend> labelStudio) {
        this.model = model;
        this.defaultScore = facts.defaultScore();
        this.limits = limits;
        this.queue = queue;
        this.metrics = metrics;
        this.timeout = timeout;
        this.origins = origins;
        this.tracker = tracker;
        this.labelStudio = labelStudio;
        this.inference = new InferenceProtocol(model, facts, limits, queue, tracker);
        String openApi =
                ModelPage.resource("openapi.json")
                        .replace("VERSION", Version.saccade())
                        .replace("\"DEFAULT_SCORE\"", Double.toString(defaultScore));
        staticResponses =
                Map.of(
                        "/", new StaticResponse("text/html;charset=utf-8", page.html()),
                        "/model",
                                new StaticResponse(
                                        JsonBody.MEDIA_TYPE,
                                        new String(JsonBody.bytes(facts), UTF_8)),
                        "/openapi.json", new StaticResponse(JsonBody.MEDIA_TYPE, openApi));
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        String route = route(request);
        long start = request.getHeadersNanoTime();
        Request.addCompletionListener(
                request,
                failure -> {
                    metrics.record(route, response.getStatus(), System.nanoTime() - start);
                    timeout.restart(request);
                });
        response.getHeaders().put("X-Content-Type-Options", "nosniff");
        response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
        response.getHeaders().put("Content-Security-Policy", page.policy());
        response.getHeaders().put("Cross-Origin-Resource-Policy", "same-origin");
        Exchange exchange =
                new Exchange(
                        request, response, callback, limits, timeout, bufferedBytes, responseBytes);
        if (isInference(route) || route.equals(LabelStudioBackend.PREFIX)) {
            exchange.useErrorField();
        }
        try {
            origins.check(request, response);
            dispatch(route, exchange);
        } catch (RuntimeException e) {
            exchange.sendProblem(e);
        }
        return true;
    }

    /** Returns the route label for metrics; {@code other} for unknown paths. */
    private String route(Request request) {
        String path = Request.getPathInContext(request);
        if (InferenceProtocol.owns(path)) {
            return InferenceProtocol.isInfer(path) ? INFER : InferenceProtocol.PREFIX;
        }
        if (labelStudio.isPresent() && LabelStudioBackend.owns(path)) {
            return LabelStudioBackend.PREFIX;
        }
        boolean known =
                staticResponses.containsKey(path)
                        || List.of(PREDICT, "/health", "/metrics").contains(path);
        return known ? path : "other";
    }

    private static boolean isInference(String route) {
        return route.equals(INFER) || route.equals(InferenceProtocol.PREFIX);
    }

    private void dispatch(String route, Exchange exchange) {
        if (route.equals("other")) {
            if (LabelStudioBackend.owns(Request.getPathInContext(exchange.request()))) {
                throw Problem.exception(
                        HttpStatus.NOT_FOUND_404,
                        "%s: Label Studio is not configured; start the server with the"
                                + " address of Label Studio",
                        LabelStudioBackend.PREFIX);
            }
            throw Problem.exception(
                    HttpStatus.NOT_FOUND_404,
                    "%s: not found; expected /, /predict, /model, /health, /metrics,"
                            + " /openapi.json or /v2",
                    Request.getPathInContext(exchange.request()));
        }
        String path = Request.getPathInContext(exchange.request());
        boolean posts =
                route.equals(PREDICT)
                        || route.equals(INFER)
                        || (route.equals(LabelStudioBackend.PREFIX)
                                && LabelStudioBackend.posts(path));
        String methods = posts ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
        String method = exchange.request().getMethod();
        if (HttpMethod.OPTIONS.is(method)) {
            exchange.headers().add(OriginFilter.preflight(methods));
            exchange.headers().put(HttpHeader.ALLOW, methods);
            exchange.send(HttpStatus.NO_CONTENT_204, null, new byte[0]);
        } else if (!List.of(methods.split(", ")).contains(method)) {
            exchange.headers().put(HttpHeader.ALLOW, methods);
            throw Problem.exception(
                    HttpStatus.METHOD_NOT_ALLOWED_405,
                    "%s %s: expected %s",
                    method,
                    path,
                    route.equals(PREDICT)
                            ? "POST with an image as the body"
                            : posts ? "POST" : "GET");
        } else if (route.equals(PREDICT)) {
            predict(exchange);
        } else if (route.equals(INFER)) {
            whenReceived(exchange, body -> inference.infer(path, body, exchange));
        } else if (route.equals(InferenceProtocol.PREFIX)) {
            inference.get(path, exchange);
        } else if (route.equals(LabelStudioBackend.PREFIX) && posts) {
            whenReceived(exchange, body -> labelStudio.orElseThrow().post(path, body, exchange));
        } else if (route.equals(LabelStudioBackend.PREFIX)) {
            labelStudio.orElseThrow().get(path, exchange);
        } else if (route.equals("/metrics")) {
            exchange.send(HttpStatus.OK_200, ServerMetrics.MEDIA_TYPE, metrics.text());
        } else if (route.equals("/health")) {
            tracker.requireOpen();
            exchange.sendJson(Map.of("status", "ready"));
        } else {
            StaticResponse same = staticResponses.get(route);
            exchange.send(HttpStatus.OK_200, same.type, same.body.getBytes(UTF_8));
        }
    }

    private void predict(Exchange exchange) {
        PredictOptions options = PredictOptions.of(exchange.request(), defaultScore, model);
        whenReceived(exchange, body -> respond(body, options, exchange));
    }

    /** Counts the request as running and calls {@code action} with its body. */
    private void whenReceived(Exchange exchange, Consumer<byte[]> action) {
        if (!tracker.enter()) {
            throw Problem.busy(
                    1, "the server is shutting down; use another server, or try again later");
        }
        Request.addCompletionListener(exchange.request(), failure -> tracker.leave());
        exchange.sendProblemOnFailure(exchange.body().thenAccept(action));
    }

    private void respond(byte[] body, PredictOptions options, Exchange exchange) {
        AtomicBoolean disconnected = new AtomicBoolean();
        exchange.request().addFailureListener(failure -> disconnected.set(true));
        String type = exchange.request().getHeaders().get(HttpHeader.CONTENT_TYPE);
        if (type == null || !MimeTypes.getContentTypeWithoutCharset(type).startsWith(MULTIPART)) {
            Upload upload = new Upload("image", body);
            exchange.sendProblemOnFailure(
                    queue.submit(List.of(upload), disconnected)
                            .get(0)
                            .thenAccept(
                                    results -> send(upload.name(), results, options, exchange)));
            return;
        }
        List<Upload> uploads = Upload.ofParts(type, body, limits.queue());
        if (options.png()) {
            throw Problem.exception(
                    HttpStatus.NOT_ACCEPTABLE_406,
                    "Accept: image/png is for requests with a single image; send the file as"
                            + " the body");
        }
        List<CompletableFuture<ImageResponse>> responses = new ArrayList<>();
        List<CompletableFuture<UploadQueue.Predicted>> results =
                queue.submit(uploads, disconnected);
        for (int i = 0; i < uploads.size(); i++) {
            String name = uploads.get(i).name();
            responses.add(
                    results.get(i)
                            .thenApply(
                                    each -> ImageResponse.of(name, each, model.classes(), options))
                            .exceptionally(
                                    failure ->
                                            ImageResponse.of(
                                                    name, Exchange.exception(failure).problem())));
        }
        exchange.sendProblemOnFailure(
                CompletableFuture.allOf(responses.toArray(CompletableFuture[]::new))
                        .thenAccept(
                                done ->
                                        exchange.sendAll(
                                                responses.stream()
                                                        .map(CompletableFuture::join)
                                                        .toList())));
    }

    private void send(
            String image,
            UploadQueue.Predicted results,
            PredictOptions options,
            Exchange exchange) {
        if (options.png()) {
            ClassMap map = new ClassMap((LabelMap) results.prediction(), model.classes());
            exchange.send(HttpStatus.OK_200, "image/png", map.toPng());
        } else {
            exchange.sendAll(List.of(ImageResponse.of(image, results, model.classes(), options)));
        }
    }
}
