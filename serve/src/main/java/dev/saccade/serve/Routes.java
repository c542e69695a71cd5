package dev.saccade.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.Version;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.models.ClassMap;
import dev.saccade.models.TrainedModel;

import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.MimeTypes;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/** What is at the addresses of a server. */
final class Routes extends Handler.Abstract {

    private static final Logger LOG = LoggerFactory.getLogger(Routes.class);

    private static final String JSON = "application/json";
    private static final String MULTIPART = "multipart/form-data";

    private static final String PREDICT = "/predict";

    /** An answer that is the same for all. */
    private record Fixed(String type, String body) {}

    private final TrainedModel<?> model;
    private final boolean segments;
    private final double leastScore;
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
        this.leastScore = facts.defaultScore();
        this.limits = limits;
        this.queue = queue;
        this.metrics = metrics;
        this.patience = patience;
        this.door = door;
        this.underWay = underWay;
        String openApi = Page.resource("openapi.json").replace("VERSION", Version.saccade());
        fixed =
                Map.of(
                        "/", new Fixed("text/html;charset=utf-8", page.html()),
                        "/model", new Fixed(JSON, new String(Json.bytes(facts), UTF_8)),
                        "/openapi.json", new Fixed(JSON, openApi));
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
        Exchange exchange = new Exchange(request, response, callback);
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
                    Request.getPathInContext(exchange.request));
        }
        boolean predict = route.equals(PREDICT);
        String methods = predict ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
        String method = exchange.request.getMethod();
        if (HttpMethod.OPTIONS.is(method)) {
            exchange.response.getHeaders().add(Doorkeeper.preflight(methods));
            exchange.response.getHeaders().put(HttpHeader.ALLOW, methods);
            exchange.send(HttpStatus.NO_CONTENT_204, null, new byte[0]);
        } else if (!List.of(methods.split(", ")).contains(method)) {
            exchange.response.getHeaders().put(HttpHeader.ALLOW, methods);
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
            exchange.send(HttpStatus.OK_200, JSON, Json.bytes(Map.of("status", "ready")));
        } else {
            Fixed same = fixed.get(route);
            exchange.send(HttpStatus.OK_200, same.type, same.body.getBytes(UTF_8));
        }
    }

    private void predict(Exchange exchange) {
        Request request = exchange.request;
        Wanted wanted = Wanted.of(request, leastScore, segments);
        if (!underWay.enter()) {
            throw Problem.busy(1, "the server is ending; ask another, or try again later");
        }
        Request.addCompletionListener(request, failure -> underWay.leave());
        exchange.bodyIsRead = true;
        exchange.refuseIfFails(
                BodyReader.start(request, limits, heldUploads, patience)
                        .done()
                        .thenAccept(body -> look(body, wanted, exchange)));
    }

    private void look(byte[] body, Wanted wanted, Exchange exchange) {
        patience.received(exchange.request);
        exchange.received = true;
        AtomicBoolean gone = new AtomicBoolean();
        exchange.request.addFailureListener(failure -> gone.set(true));
        String type = exchange.request.getHeaders().get(HttpHeader.CONTENT_TYPE);
        if (type == null || !MimeTypes.getContentTypeWithoutCharset(type).startsWith(MULTIPART)) {
            Upload photo = new Upload("photograph", body);
            exchange.refuseIfFails(
                    queue.submit(List.of(photo), gone)
                            .get(0)
                            .thenAccept(seen -> tell(seen, wanted, exchange)));
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
                            .thenApply(each -> answer(each, wanted))
                            .exceptionally(failure -> Answer.of(problem(failure)))
                            .thenApply(answer -> answer.named(name)));
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

    private void tell(PredictionQueue.Seen seen, Wanted wanted, Exchange exchange) {
        if (wanted.png()) {
            ClassMap map = new ClassMap((LabelMap) seen.prediction(), model.classes());
            exchange.send(HttpStatus.OK_200, "image/png", map.toPng());
        } else {
            exchange.send(HttpStatus.OK_200, JSON, Json.bytes(answer(seen, wanted)));
        }
    }

    private Answer answer(PredictionQueue.Seen seen, Wanted wanted) {
        return seen.prediction() instanceof LabelMap labels
                ? Answer.of(labels, model.classes(), wanted)
                : Answer.of(seen.size(), (Instances) seen.prediction(), model.classes(), wanted);
    }

    private static Problem problem(Throwable failure) {
        return refusal(failure).problem();
    }

    private static Problem.Refusal refusal(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        if (cause instanceof Problem.Refusal refusal) {
            return refusal;
        }
        LOG.error("a request could not be answered", cause);
        return Problem.refusal(
                HttpStatus.INTERNAL_SERVER_ERROR_500,
                "the request could not be answered; the log of the server says why");
    }

    /** A request on its way to its answer, which is sent once. */
    private final class Exchange {

        private final Request request;
        private final Response response;
        private final Callback callback;
        private final AtomicBoolean sent = new AtomicBoolean();

        /** Whether somebody reads the body of the request. */
        private volatile boolean bodyIsRead;

        /** Whether the body of the request has been read. */
        private volatile boolean received;

        private Exchange(Request request, Response response, Callback callback) {
            this.request = request;
            this.response = response;
            this.callback = callback;
        }

        private void send(int status, String type, byte[] body) {
            if (!sent.compareAndSet(false, true)) {
                return;
            }
            patience.restart(request);
            response.setStatus(status);
            if (leavesBody()) {
                // Else a client sends its next request into a connection that is being closed.
                response.getHeaders().put(HttpHeader.CONNECTION, "close");
            }
            if (type != null) {
                response.getHeaders().put(HttpHeader.CONTENT_TYPE, type);
                response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
            }
            boolean head = HttpMethod.HEAD.is(request.getMethod());
            response.write(
                    true,
                    head ? null : ByteBuffer.wrap(body),
                    Callback.from(this::end, callback::failed));
        }

        /** Ends the exchange; takes what a client still sends before, else it sees no answer. */
        private void end() {
            if (bodyIsRead || !leavesBody() || request.getHeaders().contains(HttpHeader.EXPECT)) {
                callback.succeeded();
                return;
            }
            var unused =
                    BodyReader.start(request, limits, heldUploads, patience)
                            .done()
                            .whenComplete((body, failure) -> callback.succeeded());
        }

        private boolean leavesBody() {
            HttpFields headers = request.getHeaders();
            return !received
                    && (headers.contains(HttpHeader.TRANSFER_ENCODING)
                            || headers.getLongField(HttpHeader.CONTENT_LENGTH) > 0);
        }

        /** Tells what was seen in each file; that it is one problem, where none can be used. */
        private void tellAll(List<Answer> answers) {
            List<Problem> problems =
                    answers.stream()
                            .map(Answer::problem)
                            .filter(problem -> problem != null)
                            .toList();
            if (problems.size() < answers.size()) {
                send(HttpStatus.OK_200, JSON, Json.bytes(answers));
                return;
            }
            String detail =
                    problems.stream().map(Problem::detail).collect(Collectors.joining("; "));
            send(
                    problems.get(0).status(),
                    Problem.MEDIA_TYPE,
                    Json.bytes(Problem.of(problems.get(0).status(), detail)));
        }

        private void refuseIfFails(CompletableFuture<?> answering) {
            var unused =
                    answering.whenComplete(
                            (done, failure) -> {
                                if (failure != null) {
                                    refuse(failure);
                                }
                            });
        }

        private void refuse(Throwable failure) {
            Problem.Refusal refusal = refusal(failure);
            refusal.retryAfterSeconds()
                    .ifPresent(
                            seconds ->
                                    response.getHeaders()
                                            .put(HttpHeader.RETRY_AFTER, seconds.intValue()));
            Problem problem = PhotoHint.added(refusal.problem(), request);
            send(problem.status(), Problem.MEDIA_TYPE, Json.bytes(problem));
        }
    }
}
