package dev.saccade.models;

import dev.saccade.core.Count;
import dev.saccade.core.Text;

import java.util.concurrent.RejectedExecutionException;

/** Thrown if too many images wait for a prediction. */
public final class QueueFullException extends RejectedExecutionException {

    private static final long serialVersionUID = 1L;

    private final int retryAfterSeconds;

    QueueFullException(int length, int limit, int retryAfterSeconds) {
        super(
                Text.format(
                        "the queue is full (%s, at most %d); try again later",
                        Count.of(length, "image"), limit));
        this.retryAfterSeconds = retryAfterSeconds;
    }

    /** Returns the estimated seconds to predict a full queue, 1 to 30. */
    public int retryAfterSeconds() {
        return retryAfterSeconds;
    }
}
