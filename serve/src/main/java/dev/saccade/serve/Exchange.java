package dev.saccade.serve;

import dev.saccade.core.OutOfMemory;

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
import java.util.Map;
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
    private final AtomicLong bufferedBytes;
    private final AtomicLong responseBytes;
    private final AtomicBoolean sent = new AtomicBoolean();

    private volatile boolean bodyIsRead;

    private volatile boolean received;

    /** Advice appended to the message if the body is not an image. */
    private volatile String hint = "";

    private volatile boolean errorField;

    Exchange(
            Request request,
            Response response,
            Callback callback,
            ServerLimits limits,
            ConnectionTimeout timeout,
            AtomicLong bufferedBytes,
            AtomicLong responseBytes) {
        this.request = request;
        this.response = response;
        this.callback = callback;
        this.limits = limits;
        this.timeout = timeout;
        this.bufferedBytes = bufferedBytes;
        this.responseBytes = responseBytes;
    }

    Request request() {
        return request;
    }

    HttpFields.Mutable headers() {
        return response.getHeaders();
    }

    /** Reads the body, or fails with a {@link Problem.HttpException}. */
    CompletableFuture<byte[]> body() {
        ContentCoding coding = ContentCoding.of(request);
        bodyIsRead = true;
        return BodyReader.start(request, limits, bufferedBytes, timeout, coding)
                .done()
                .thenApply(
                        body -> {
                            timeout.received(request);
                            received = true;
                            hint = UploadHint.of(request, body);
                            return body;
                        });
    }

    /** Reserves memory for a response until it is sent; throws status 503 if there is none left. */
    void reserve(int bytes) {
        Request.addCompletionListener(request, failure -> responseBytes.addAndGet(-bytes));
        if (responseBytes.addAndGet(bytes) > limits.totalResponseBytes()) {
            throw Problem.busy(1, "the responses need too much memory; try again later");
        }
    }

    void send(int status, String type, byte[] body) {
        if (!sent.compareAndSet(false, true)) {
            return;
        }
        timeout.restart(request);
        response.setStatus(status);
        if (hasUnreadBody()) {
            // Otherwise a client sends its next request into a closing connection.
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

    /** Ends the exchange after reading the rest of the body, so clients see the response. */
    private void end() {
        if (bodyIsRead || !hasUnreadBody() || request.getHeaders().contains(HttpHeader.EXPECT)) {
            callback.succeeded();
            return;
        }
        var unused =
                BodyReader.start(request, limits, bufferedBytes, timeout, ContentCoding.IDENTITY)
                        .done()
                        .whenComplete((body, failure) -> callback.succeeded());
    }

    private boolean hasUnreadBody() {
        HttpFields headers = request.getHeaders();
        return !received
                && (headers.contains(HttpHeader.TRANSFER_ENCODING)
                        || headers.getLongField(HttpHeader.CONTENT_LENGTH) > 0);
    }

    /** Sends the result of each image, or one problem if all images failed. */
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

    void sendJson(Object value) {
        send(HttpStatus.OK_200, JsonBody.MEDIA_TYPE, JsonBody.bytes(value));
    }

    /** Sends errors as {@code {"error": ...}}, as the protocols of other products do. */
    void useErrorField() {
        errorField = true;
    }

    void sendProblemOnFailure(CompletableFuture<?> answering) {
        var unused =
                answering.whenComplete(
                        (done, failure) -> {
                            if (failure != null) {
                                sendProblem(failure);
                            }
                        });
    }

    void sendProblem(Throwable failure) {
        Problem.HttpException exception = exception(failure);
        exception
                .retryAfterSeconds()
                .ifPresent(
                        seconds ->
                                response.getHeaders()
                                        .put(HttpHeader.RETRY_AFTER, seconds.intValue()));
        Problem problem = exception.problem();
        if (problem.status() == HttpStatus.UNPROCESSABLE_ENTITY_422 && !errorField) {
            problem = Problem.of(problem.status(), problem.detail() + hint);
        } else if (problem.status() == HttpStatus.UNSUPPORTED_MEDIA_TYPE_415) {
            response.getHeaders().put(HttpHeader.ACCEPT_ENCODING, "gzip, deflate");
        }
        if (errorField) {
            byte[] body = JsonBody.bytes(Map.of("error", problem.detail()));
            send(problem.status(), JsonBody.MEDIA_TYPE, body);
        } else {
            send(problem.status(), Problem.MEDIA_TYPE, JsonBody.bytes(problem));
        }
    }

    /** Returns the error for the client; logs internal errors and hides their details. */
    static Problem.HttpException exception(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        if (cause instanceof Problem.HttpException exception) {
            return exception;
        }
        LOG.error("a request failed", cause);
        if (OutOfMemory.reason(cause).isPresent()) {
            return Problem.busy(1, "the server is out of memory; send a smaller image");
        }
        return Problem.exception(
                HttpStatus.INTERNAL_SERVER_ERROR_500,
                "the request failed with an internal error; see the log of the server");
    }
}
