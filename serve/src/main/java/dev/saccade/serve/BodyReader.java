package dev.saccade.serve;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;

import java.io.ByteArrayOutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Reads a request body without blocking. Discards the rest of a rejected body, up to 8 times the
 * limit, as a client that is still sending would not see the response.
 */
final class BodyReader implements Runnable {

    private static final int MAX_DISCARDED_UPLOADS = 8;

    private final Request request;
    private final ServerLimits limits;
    private final AtomicLong bufferedBytes;
    private final ContentCoding coding;
    private final CompletableFuture<byte[]> done = new CompletableFuture<>();

    private final ByteArrayOutputStream content = new ByteArrayOutputStream();
    private Problem.HttpException exception;
    private long received;
    private long held;

    private BodyReader(
            Request request, ServerLimits limits, AtomicLong bufferedBytes, ContentCoding coding) {
        this.request = request;
        this.limits = limits;
        this.bufferedBytes = bufferedBytes;
        this.coding = coding;
    }

    /** Starts reading; {@code bufferedBytes} counts the bytes held for all requests. */
    static BodyReader start(
            Request request,
            ServerLimits limits,
            AtomicLong bufferedBytes,
            ConnectionTimeout timeout,
            ContentCoding coding) {
        BodyReader reader = new BodyReader(request, limits, bufferedBytes, coding);
        Request.addCompletionListener(request, failure -> bufferedBytes.addAndGet(-reader.held));
        timeout.onLateBody(
                request,
                () ->
                        reader.done.completeExceptionally(
                                Problem.exception(
                                        HttpStatus.REQUEST_TIMEOUT_408,
                                        "the request was not complete within %s s;"
                                                + " send smaller images, or raise the timeout",
                                        limits.timeout().toSeconds())));
        if (request.getHeaders().getLongField(HttpHeader.CONTENT_LENGTH)
                > MAX_DISCARDED_UPLOADS * (long) limits.uploadBytes()) {
            reader.done.completeExceptionally(reader.tooLarge());
        } else {
            reader.run();
        }
        return reader;
    }

    /** Returns the body, or fails with a {@link Problem.HttpException}. */
    CompletableFuture<byte[]> done() {
        return done;
    }

    @Override
    public void run() {
        while (!done.isDone()) {
            Content.Chunk chunk = request.read();
            if (chunk == null) {
                request.demand(this);
                return;
            }
            if (Content.Chunk.isFailure(chunk)) {
                done.completeExceptionally(
                        Problem.badRequest(
                                "the request ended before its body was complete: %s",
                                chunk.getFailure()));
                return;
            }
            append(chunk);
            chunk.release();
            if (chunk.isLast()) {
                end();
            }
        }
    }

    private void append(Content.Chunk chunk) {
        int length = chunk.remaining();
        received += length;
        if (exception == null && received > limits.uploadBytes()) {
            exception = tooLarge();
            content.reset();
        }
        if (exception == null) {
            try {
                reserve(length);
            } catch (Problem.HttpException e) {
                exception = e;
                content.reset();
                return;
            }
            byte[] bytes = new byte[length];
            chunk.getByteBuffer().get(bytes);
            content.writeBytes(bytes);
        } else if (received > MAX_DISCARDED_UPLOADS * (long) limits.uploadBytes()) {
            done.completeExceptionally(exception);
        }
    }

    private void reserve(int length) {
        held += length;
        if (bufferedBytes.addAndGet(length) > limits.totalUploadBytes()) {
            throw Problem.busy(1, "too many uploads at once; try again later");
        }
    }

    private Problem.HttpException tooLarge() {
        return Problem.exception(
                HttpStatus.PAYLOAD_TOO_LARGE_413,
                "the request is larger than %d bytes; send smaller images, or fewer"
                        + " per request",
                limits.uploadBytes());
    }

    private void end() {
        if (exception != null) {
            done.completeExceptionally(exception);
            return;
        }
        try {
            done.complete(
                    coding.decode(content.toByteArray(), limits.uploadBytes(), this::reserve));
        } catch (Problem.HttpException e) {
            done.completeExceptionally(e);
        }
    }
}
