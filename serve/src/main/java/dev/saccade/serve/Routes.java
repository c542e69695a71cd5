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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Dispatches requests by address. */
final class Routes extends Handler.Abstract {

    private static final String MULTIPART = "multipart/form-data";

    private static final String PREDICT = "/predict";

    /** A constant response. */
    private record Fixed(String type, String body) {}

    private final TrainedModel<?> model;
    private final double defaultScore;
    private final ServerLimits limits;
    private final PredictionQueue queue;
    private final Metrics metrics;
    private final ConnectionTimeout timeout;
    private final OriginFilter origins;
    private final ModelPage page = ModelPage.load();
    private final Map<String, Fixed> fixed;
    private final AtomicLong heldUploads = new AtomicLong();
    private final RequestTracker tracker;

    Routes(
            TrainedModel<?> model,
            ModelFacts facts,
            ServerLimits limits,
            PredictionQueue queue,
            Metrics metrics,
            ConnectionTimeout timeout,
            OriginFilter origins,
            RequestTracker tracker) {
        this.model = model;
        this.defaultScore = facts.defaultScore();
        this.limits = limits;
        this.queue = queue;
        this.metrics = metrics;
        this.timeout = timeout;
        this.origins = origins;
        this.tracker = tracker;
        String openApi =
                ModelPage.resource("openapi.json")
                        .replace("VERSION", Version.saccade())
                        .replace("\"DEFAULT_SCORE\"", Double.toString(defaultScore));
        fixed =
                Map.of(
                        "/", new Fixed("text/html;charset=utf-8", page.html()),
                        "/model",
                                new Fixed(
                                        JsonBody.MEDIA_TYPE,
                                        new String(JsonBody.bytes(facts), UTF_8)),
                        "/openapi.json", new Fixed(JsonBody.MEDIA_TYPE, openApi));
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        String route = route(request);
        long start = request.getHeadersNanoTime();
        Request.addCompletionListener(
                request,
                failure -> {
                    metrics.answered(
                            route, response.getStatus(), (System.nanoTime() - start) / 1e9);
                    timeout.restart(request);
                });
        response.getHeaders().put("X-Content-Type-Options", "nosniff");
        response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
        response.getHeaders().put("Content-Security-Policy", page.policy());
        response.getHeaders().put("Cross-Origin-Resource-Policy", "same-origin");
        Exchange exchange = new Exchange(request, response, callback, limits, timeout, heldUploads);
        try {
            origins.admit(request, response);
            dispatch(route, exchange);
        } catch (RuntimeException e) {
            exchange.refuse(e);
        }
        return true;
    }

    /** Returns the route for metrics; {@code other} for unknown addresses. */
    private String route(Request request) {
        String path = Request.getPathInContext(request);
        boolean known =
                fixed.containsKey(path) || List.of(PREDICT, "/health", "/metrics").contains(path);
        return known ? path : "other";
    }

    private void dispatch(String route, Exchange exchange) {
        if (route.equals("other")) {
            throw Problem.refusal(
                    HttpStatus.NOT_FOUND_404,
                    "%s: there is nothing; expected /, /predict, /model, /health, /metrics or"
                            + " /openapi.json",
                    Request.getPathInContext(exchange.request()));
        }
        boolean predict = route.equals(PREDICT);
        String methods = predict ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
        String method = exchange.request().getMethod();
        if (HttpMethod.OPTIONS.is(method)) {
            exchange.headers().add(OriginFilter.preflight(methods));
            exchange.headers().put(HttpHeader.ALLOW, methods);
            exchange.send(HttpStatus.NO_CONTENT_204, null, new byte[0]);
        } else if (!List.of(methods.split(", ")).contains(method)) {
            exchange.headers().put(HttpHeader.ALLOW, methods);
            throw Problem.refusal(
                    HttpStatus.METHOD_NOT_ALLOWED_405,
                    "%s %s: expected %s",
                    method,
                    route,
                    predict ? "POST with a photograph as its body" : "GET");
        } else if (predict) {
            predict(exchange);
        } else if (route.equals("/metrics")) {
            exchange.send(HttpStatus.OK_200, Metrics.MEDIA_TYPE, metrics.text());
        } else if (route.equals("/health")) {
            if (tracker.isEnding()) {
                throw Problem.refusal(HttpStatus.SERVICE_UNAVAILABLE_503, "the server is ending");
            }
            exchange.send(
                    HttpStatus.OK_200,
                    JsonBody.MEDIA_TYPE,
                    JsonBody.bytes(Map.of("status", "ready")));
        } else {
            Fixed same = fixed.get(route);
            exchange.send(HttpStatus.OK_200, same.type, same.body.getBytes(UTF_8));
        }
    }

    private void predict(Exchange exchange) {
        Request request = exchange.request();
        PredictOptions options = PredictOptions.of(request, defaultScore, model);
        if (!tracker.enter()) {
            throw Problem.busy(1, "the server is ending; ask another, or try again later");
        }
        Request.addCompletionListener(request, failure -> tracker.leave());
        exchange.refuseIfFails(
                exchange.body().thenAccept(body -> respond(body, options, exchange)));
    }

    private void respond(byte[] body, PredictOptions options, Exchange exchange) {
        AtomicBoolean gone = new AtomicBoolean();
        exchange.request().addFailureListener(failure -> gone.set(true));
        String type = exchange.request().getHeaders().get(HttpHeader.CONTENT_TYPE);
        if (type == null || !MimeTypes.getContentTypeWithoutCharset(type).startsWith(MULTIPART)) {
            Upload photo = new Upload("image", body);
            exchange.refuseIfFails(
                    queue.submit(List.of(photo), gone)
                            .get(0)
                            .thenAccept(seen -> send(photo.name(), seen, options, exchange)));
            return;
        }
        List<Upload> photos = Upload.ofParts(type, body, limits.queue());
        if (options.png()) {
            throw Problem.refusal(
                    HttpStatus.NOT_ACCEPTABLE_406,
                    "Accept: an image is the answer to one photograph; send it as the body");
        }
        List<CompletableFuture<ImageResponse>> answers = new ArrayList<>();
        List<CompletableFuture<PredictionQueue.Predicted>> seen = queue.submit(photos, gone);
        for (int i = 0; i < photos.size(); i++) {
            String name = photos.get(i).name();
            answers.add(
                    seen.get(i)
                            .thenApply(
                                    each -> ImageResponse.of(name, each, model.classes(), options))
                            .exceptionally(
                                    failure ->
                                            ImageResponse.of(
                                                    name, Exchange.refusal(failure).problem())));
        }
        exchange.refuseIfFails(
                CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
                        .thenAccept(
                                done ->
                                        exchange.sendAll(
                                                answers.stream()
                                                        .map(CompletableFuture::join)
                                                        .toList())));
    }

    private void send(
            String image,
            PredictionQueue.Predicted seen,
            PredictOptions options,
            Exchange exchange) {
        if (options.png()) {
            ClassMap map = new ClassMap((LabelMap) seen.prediction(), model.classes());
            exchange.send(HttpStatus.OK_200, "image/png", map.toPng());
        } else {
            exchange.sendAll(List.of(ImageResponse.of(image, seen, model.classes(), options)));
        }
    }
}
