package dev.saccade.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.Version;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.models.ClassMap;
import dev.saccade.models.ScoreThresholds;
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

/** What is at the addresses of a server. */
final class Routes extends Handler.Abstract {

    private static final String MULTIPART = "multipart/form-data";

    private static final String PREDICT = "/predict";

    /** An answer that is the same for all. */
    private record Fixed(String type, String body) {}

    private final TrainedModel<?> model;
    private final boolean segments;
    private final double defaultScore;
    private final ScoreThresholds recommended;
    private final Limits limits;
    private final PredictionQueue queue;
    private final Metrics metrics;
    private final Patience patience;
    private final Doorkeeper door;
    private final Page page = Page.load();
    private final Map<String, Fixed> fixed;
    private final AtomicLong heldUploads = new AtomicLong();
    private final UnderWay underWay;

    Routes(
            TrainedModel<?> model,
            ModelFacts facts,
            Limits limits,
            PredictionQueue queue,
            Metrics metrics,
            Patience patience,
            Doorkeeper door,
            UnderWay underWay) {
        this.model = model;
        this.segments = ModelFacts.segments(model);
        this.defaultScore = facts.defaultScore();
        this.recommended =
                model.match(
                        detector -> detector.scoreThresholds(),
                        segmenter -> ScoreThresholds.DEFAULT);
        this.limits = limits;
        this.queue = queue;
        this.metrics = metrics;
        this.patience = patience;
        this.door = door;
        this.underWay = underWay;
        String openApi =
                Page.resource("openapi.json")
                        .replace("VERSION", Version.saccade())
                        .replace("\"DEFAULT_SCORE\"", Double.toString(defaultScore));
        fixed =
                Map.of(
                        "/", new Fixed("text/html;charset=utf-8", page.html()),
                        "/model", new Fixed(Json.MEDIA_TYPE, new String(Json.bytes(facts), UTF_8)),
                        "/openapi.json", new Fixed(Json.MEDIA_TYPE, openApi));
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
                    patience.restart(request);
                });
        response.getHeaders().put("X-Content-Type-Options", "nosniff");
        response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
        response.getHeaders().put("Content-Security-Policy", page.policy());
        response.getHeaders().put("Cross-Origin-Resource-Policy", "same-origin");
        Exchange exchange =
                new Exchange(request, response, callback, limits, patience, heldUploads);
        try {
            door.admit(request, response);
            answer(route, exchange);
        } catch (RuntimeException e) {
            exchange.refuse(e);
        }
        return true;
    }

    /** Returns the address that is asked for, of which there are few, for counting. */
    private String route(Request request) {
        String path = Request.getPathInContext(request);
        boolean known =
                fixed.containsKey(path) || List.of(PREDICT, "/health", "/metrics").contains(path);
        return known ? path : "other";
    }

    private void answer(String route, Exchange exchange) {
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
            exchange.answerHeaders().add(Doorkeeper.preflight(methods));
            exchange.answerHeaders().put(HttpHeader.ALLOW, methods);
            exchange.send(HttpStatus.NO_CONTENT_204, null, new byte[0]);
        } else if (!List.of(methods.split(", ")).contains(method)) {
            exchange.answerHeaders().put(HttpHeader.ALLOW, methods);
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
            if (underWay.isEnding()) {
                throw Problem.refusal(HttpStatus.SERVICE_UNAVAILABLE_503, "the server is ending");
            }
            exchange.send(
                    HttpStatus.OK_200, Json.MEDIA_TYPE, Json.bytes(Map.of("status", "ready")));
        } else {
            Fixed same = fixed.get(route);
            exchange.send(HttpStatus.OK_200, same.type, same.body.getBytes(UTF_8));
        }
    }

    private void predict(Exchange exchange) {
        Request request = exchange.request();
        Wanted wanted = Wanted.of(request, defaultScore, recommended, segments);
        if (!underWay.enter()) {
            throw Problem.busy(1, "the server is ending; ask another, or try again later");
        }
        Request.addCompletionListener(request, failure -> underWay.leave());
        exchange.refuseIfFails(exchange.body().thenAccept(body -> look(body, wanted, exchange)));
    }

    private void look(byte[] body, Wanted wanted, Exchange exchange) {
        AtomicBoolean gone = new AtomicBoolean();
        exchange.request().addFailureListener(failure -> gone.set(true));
        String type = exchange.request().getHeaders().get(HttpHeader.CONTENT_TYPE);
        if (type == null || !MimeTypes.getContentTypeWithoutCharset(type).startsWith(MULTIPART)) {
            Upload photo = new Upload("image", body);
            exchange.refuseIfFails(
                    queue.submit(List.of(photo), gone)
                            .get(0)
                            .thenAccept(seen -> tell(photo.name(), seen, wanted, exchange)));
            return;
        }
        List<Upload> photos = Upload.ofParts(type, body, limits.queue());
        if (wanted.png()) {
            throw Problem.refusal(
                    HttpStatus.NOT_ACCEPTABLE_406,
                    "Accept: an image is the answer to one photograph; send it as the body");
        }
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        List<CompletableFuture<PredictionQueue.Seen>> seen = queue.submit(photos, gone);
        for (int i = 0; i < photos.size(); i++) {
            String name = photos.get(i).name();
            answers.add(
                    seen.get(i)
                            .thenApply(each -> answer(name, each, wanted))
                            .exceptionally(
                                    failure ->
                                            Answer.of(name, Exchange.refusal(failure).problem())));
        }
        exchange.refuseIfFails(
                CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
                        .thenAccept(
                                done ->
                                        exchange.tellAll(
                                                answers.stream()
                                                        .map(CompletableFuture::join)
                                                        .toList())));
    }

    private void tell(String image, PredictionQueue.Seen seen, Wanted wanted, Exchange exchange) {
        if (wanted.png()) {
            ClassMap map = new ClassMap((LabelMap) seen.prediction(), model.classes());
            exchange.send(HttpStatus.OK_200, "image/png", map.toPng());
        } else {
            exchange.tellAll(List.of(answer(image, seen, wanted)));
        }
    }

    private Answer answer(String image, PredictionQueue.Seen seen, Wanted wanted) {
        List<String> classes = model.classes();
        Answer answer =
                seen.prediction() instanceof LabelMap labels
                        ? Answer.of(image, labels, classes, wanted)
                        : Answer.of(
                                image, seen.size(), (Instances) seen.prediction(), classes, wanted);
        return answer.withWarnings(seen.warnings());
    }
}
