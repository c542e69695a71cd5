package dev.saccade.serve;

import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/** A request and its response, which is sent once. */
final class Exchange {

    private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

    private final Request request;
    private final Response response;
    private final Callback callback;
    private final ServerLimits limits;
    private final ConnectionTimeout timeout;
    private final AtomicLong heldUploads;
    private final AtomicBoolean sent = new AtomicBoolean();

    /** Whether somebody reads the body of the request. */
    private volatile boolean bodyIsRead;

    /** Whether the body of the request has been read. */
    private volatile boolean received;

    /** What to do if the body is no image. */
    private volatile String hint = "";

    /**
     * Begins with a request.
     *
     * @param heldUploads counts the bytes of all requests until they are answered
     */
    Exchange(
            Request request,
            Response response,
            Callback callback,
            ServerLimits limits,
            ConnectionTimeout timeout,
            AtomicLong heldUploads) {
        this.request = request;
        this.response = response;
        this.callback = callback;
        this.limits = limits;
        this.timeout = timeout;
        this.heldUploads = heldUploads;
    }

    Request request() {
        return request;
    }

    HttpFields.Mutable headers() {
        return response.getHeaders();
    }

    /** Returns the body of the request, once it is there; fails with a {@link Problem.Refusal}. */
    CompletableFuture<byte[]> body() {
        ContentCoding coding = ContentCoding.of(request);
        bodyIsRead = true;
        return BodyReader.start(request, limits, heldUploads, timeout, coding)
                .done()
                .thenApply(
                        body -> {
                            timeout.received(request);
                            received = true;
                            hint = PhotoHint.of(request, body);
                            return body;
                        });
    }

    void send(int status, String type, byte[] body) {
        if (!sent.compareAndSet(false, true)) {
            return;
        }
        timeout.restart(request);
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

    /** Completes the exchange after the rest of the body, else a client sees no response. */
    private void end() {
        if (bodyIsRead || !leavesBody() || request.getHeaders().contains(HttpHeader.EXPECT)) {
            callback.succeeded();
            return;
        }
        var unused =
                BodyReader.start(request, limits, heldUploads, timeout, ContentCoding.IDENTITY)
                        .done()
                        .whenComplete((body, failure) -> callback.succeeded());
    }

    private boolean leavesBody() {
        HttpFields headers = request.getHeaders();
        return !received
                && (headers.contains(HttpHeader.TRANSFER_ENCODING)
                        || headers.getLongField(HttpHeader.CONTENT_LENGTH) > 0);
    }

    /** Sends the response of each image; one problem if no image could be processed. */
    void sendAll(List<ImageResponse> responses) {
        List<Problem> problems =
                responses.stream()
                        .map(ImageResponse::problem)
                        .filter(problem -> problem != null)
                        .toList();
        if (problems.size() < responses.size()) {
            send(
                    HttpStatus.OK_200,
                    JsonBody.MEDIA_TYPE,
                    JsonBody.bytes(responses.stream().map(ImageResponse::json).toList()));
            return;
        }
        String detail = problems.stream().map(Problem::detail).collect(Collectors.joining("; "));
        send(
                problems.get(0).status(),
                Problem.MEDIA_TYPE,
                JsonBody.bytes(Problem.of(problems.get(0).status(), detail)));
    }

    void refuseIfFails(CompletableFuture<?> answering) {
        var unused =
                answering.whenComplete(
                        (done, failure) -> {
                            if (failure != null) {
                                refuse(failure);
                            }
                        });
    }

    void refuse(Throwable failure) {
        Problem.Refusal refusal = refusal(failure);
        refusal.retryAfterSeconds()
                .ifPresent(
                        seconds ->
                                response.getHeaders()
                                        .put(HttpHeader.RETRY_AFTER, seconds.intValue()));
        Problem problem = refusal.problem();
        if (problem.status() == HttpStatus.UNPROCESSABLE_ENTITY_422) {
            problem = Problem.of(problem.status(), problem.detail() + hint);
        } else if (problem.status() == HttpStatus.UNSUPPORTED_MEDIA_TYPE_415) {
            response.getHeaders().put(HttpHeader.ACCEPT_ENCODING, "gzip");
        }
        send(problem.status(), Problem.MEDIA_TYPE, JsonBody.bytes(problem));
    }

    static Problem.Refusal refusal(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        if (cause instanceof Problem.Refusal refusal) {
            return refusal;
        }
        LOG.error("a request could not be answered", cause);
        return Problem.refusal(
                HttpStatus.INTERNAL_SERVER_ERROR_500,
                "the request could not be answered; the log of the server says why");
    }
}
