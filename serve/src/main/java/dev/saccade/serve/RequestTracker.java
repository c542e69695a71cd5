package dev.saccade.serve;

import org.eclipse.jetty.http.HttpStatus;

import java.time.Duration;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Counts running requests; a closing server waits for them. */
final class RequestTracker {

    // The server is a party too; the phase ends once all requests and the server have left.
    private final Phaser requests = new Phaser(1);
    private volatile boolean closing;

    /** Throws status 503 if the server is closing. */
    void requireOpen() {
        if (closing) {
            throw Problem.exception(
                    HttpStatus.SERVICE_UNAVAILABLE_503, "the server is shutting down");
        }
    }

    int count() {
        return closing ? requests.getUnarrivedParties() : requests.getUnarrivedParties() - 1;
    }

    /** Registers a request, which must {@link #leave}; returns false if the server is closing. */
    boolean enter() {
        return !closing && requests.register() >= 0;
    }

    void leave() {
        requests.arriveAndDeregister();
    }

    /** Rejects new requests and waits for running ones, at most {@code timeout}. */
    synchronized void close(Duration timeout) {
        if (closing) {
            return;
        }
        closing = true;
        int phase = requests.arriveAndDeregister();
        try {
            requests.awaitAdvanceInterruptibly(phase, timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException e) {
            // The remaining requests are cut off.
            return;
        }
    }
}
