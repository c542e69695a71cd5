package dev.saccade.serve;

import java.time.Duration;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The requests that are being answered, for which the end of a server waits. */
final class RequestTracker {

    // The server is a party, too; the phase ends once it and all requests have left.
    private final Phaser requests = new Phaser(1);
    private volatile boolean ending;

    boolean isEnding() {
        return ending;
    }

    /** Returns how many requests are being answered. */
    int count() {
        return ending ? requests.getUnarrivedParties() : requests.getUnarrivedParties() - 1;
    }

    /** Lets a request in, which must {@link #leave}; or returns that the server is ending. */
    boolean enter() {
        return !ending && requests.register() >= 0;
    }

    void leave() {
        requests.arriveAndDeregister();
    }

    /** Lets no request in any more, and waits a while for those that are. */
    synchronized void end(Duration longest) {
        if (ending) {
            return;
        }
        ending = true;
        int phase = requests.arriveAndDeregister();
        try {
            requests.awaitAdvanceInterruptibly(phase, longest.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException e) {
            // What is still under way is cut off.
            return;
        }
    }
}
