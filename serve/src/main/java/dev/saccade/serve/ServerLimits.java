package dev.saccade.serve;

import dev.saccade.core.Checks;
import dev.saccade.core.structures.ImageInfo;

import java.time.Duration;

/**
 * What a server takes from its clients, so that none of them costs the others theirs.
 *
 * @param uploadBytes most bytes of a request; the requests of all clients together hold at most
 *     eight times as many
 * @param pixels most pixels of a photograph; a file that says it has more is not decoded
 * @param queue most photographs that wait or are looked at, and that one request may have
 * @param connections most connections; more clients wait until one is closed
 * @param patience how long a client may take from opening a connection, or from the last answer on
 *     it, until its request is there, and again to take the answer
 */
public record ServerLimits(int uploadBytes, int pixels, int queue, int connections, Duration patience) {

    public static final int MOST_UPLOAD_BYTES = 1 << 30;
    public static final int MOST_QUEUE = 10_000;
    public static final Duration MOST_PATIENCE = Duration.ofHours(1);

    /** Those of a server that is told nothing else. */
    public static final ServerLimits DEFAULT =
            new ServerLimits(32 << 20, 64_000_000, 128, 512, Duration.ofSeconds(60));

    /** Checks that all of them can be kept. */
    public ServerLimits {
        new Checks()
                .within("upload bytes", uploadBytes, 1, MOST_UPLOAD_BYTES)
                .within("pixels", pixels, 1, ImageInfo.MOST_PIXELS)
                .within("queue", queue, 1, MOST_QUEUE)
                .within("connections", connections, 1, 100_000)
                .within(
                        "seconds of patience",
                        patience.toMillis() / 1000.0,
                        0.1,
                        MOST_PATIENCE.toMillis() / 1000.0)
                .throwIfAny();
    }

    /** Returns the same with other bytes of a request. */
    public ServerLimits withUploadBytes(int most) {
        return new ServerLimits(most, pixels, queue, connections, patience);
    }

    /** Returns the same with other pixels of a photograph. */
    public ServerLimits withPixels(int most) {
        return new ServerLimits(uploadBytes, most, queue, connections, patience);
    }

    /** Returns the same with another length of the queue. */
    public ServerLimits withQueue(int most) {
        return new ServerLimits(uploadBytes, pixels, most, connections, patience);
    }

    /** Returns the same with another number of connections. */
    public ServerLimits withConnections(int most) {
        return new ServerLimits(uploadBytes, pixels, queue, most, patience);
    }

    /** Returns the same with another patience. */
    public ServerLimits withPatience(Duration longest) {
        return new ServerLimits(uploadBytes, pixels, queue, connections, longest);
    }

    long uploadBytesOfAll() {
        return 8L * uploadBytes;
    }
}
