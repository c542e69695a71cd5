package dev.saccade.serve;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;

import java.io.ByteArrayOutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Reads the body of a request without blocking. Discards a body that is too large, within limits: a
 * client that is still sending would not see the response.
 */
final class BodyReader implements Runnable {

    private static final int MOST_TIMES_THROWN_AWAY = 8;

    private final Request request;
    private final ServerLimits limits;
    private final AtomicLong heldOfAll;
    private final ContentCoding coding;
    private final CompletableFuture<byte[]> done = new CompletableFuture<>();

    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private Problem.Refusal refusal;
    private long received;
    private long held;

    private BodyReader(
            Request request, ServerLimits limits, AtomicLong heldOfAll, ContentCoding coding) {
        this.request = request;
        this.limits = limits;
        this.heldOfAll = heldOfAll;
        this.coding = coding;
    }

    /**
     * Starts reading.
     *
     * @param heldOfAll counts the bytes of all requests until they are answered
     * @param coding how the body is unpacked
     */
    static BodyReader start(
            Request request,
            ServerLimits limits,
            AtomicLong heldOfAll,
            ConnectionTimeout timeout,
            ContentCoding coding) {
        BodyReader reader = new BodyReader(request, limits, heldOfAll, coding);
        Request.addCompletionListener(request, failure -> heldOfAll.addAndGet(-reader.held));
        timeout.onLateBody(
                request,
                () ->
                        reader.done.completeExceptionally(
                                Problem.refusal(
                                        HttpStatus.REQUEST_TIMEOUT_408,
                                        "the request was not there within %s s; send smaller"
                                                + " photographs, or raise the limit",
                                        limits.timeout().toSeconds())));
        if (request.getHeaders().getLongField(HttpHeader.CONTENT_LENGTH)
                > MOST_TIMES_THROWN_AWAY * (long) limits.uploadBytes()) {
            reader.done.completeExceptionally(reader.tooLarge());
        } else {
            reader.run();
        }
        return reader;
    }

    /** Returns the body, once it is there; fails with a {@link Problem.Refusal} else. */
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
                                "the request ends before its body does: %s", chunk.getFailure()));
                return;
            }
            take(chunk);
            chunk.release();
            if (chunk.isLast()) {
                end();
            }
        }
    }

    private void take(Content.Chunk chunk) {
        int length = chunk.remaining();
        received += length;
        if (refusal == null && received > limits.uploadBytes()) {
            refusal = tooLarge();
            kept.reset();
        }
        if (refusal == null) {
            try {
                hold(length);
            } catch (Problem.Refusal e) {
                refusal = e;
                kept.reset();
                return;
            }
            byte[] bytes = new byte[length];
            chunk.getByteBuffer().get(bytes);
            kept.writeBytes(bytes);
        } else if (received > MOST_TIMES_THROWN_AWAY * (long) limits.uploadBytes()) {
            done.completeExceptionally(refusal);
        }
    }

    /** Counts bytes that are kept in memory. */
    private void hold(int length) {
        held += length;
        if (heldOfAll.addAndGet(length) > limits.uploadBytesOfAll()) {
            throw Problem.busy(1, "too many uploads at a time; try again later");
        }
    }

    private Problem.Refusal tooLarge() {
        return Problem.refusal(
                HttpStatus.PAYLOAD_TOO_LARGE_413,
                "the request has more than %d bytes; send smaller photographs, or fewer in a"
                        + " request",
                limits.uploadBytes());
    }

    private void end() {
        if (refusal != null) {
            done.completeExceptionally(refusal);
            return;
        }
        try {
            done.complete(coding.decode(kept.toByteArray(), limits.uploadBytes(), this::hold));
        } catch (Problem.Refusal e) {
            done.completeExceptionally(e);
        }
    }
}
