package dev.saccade.serve;

import dev.saccade.core.Checks;
import dev.saccade.core.structures.ImageInfo;

import java.time.Duration;

/**
 * Limits on clients of a server.
 *
 * @param uploadBytes maximum bytes of a request; all requests together may hold eight times as many
 * @param pixels maximum pixels of an image; larger images are not decoded
 * @param queue maximum number of images in the queue and in a request
 * @param connections maximum number of connections; more clients wait until one is closed
 * @param timeout time for a client to send a request, and again to receive the response
 */
public record ServerLimits(
        int uploadBytes, int pixels, int queue, int connections, Duration timeout) {

    public static final int MOST_UPLOAD_BYTES = 1 << 30;
    public static final int MOST_QUEUE = 10_000;
    public static final Duration MOST_TIMEOUT = Duration.ofHours(1);

    /** The default limits. */
    public static final ServerLimits DEFAULT =
            new ServerLimits(32 << 20, 64_000_000, 128, 512, Duration.ofSeconds(60));

    /** Checks the ranges. */
    public ServerLimits {
        new Checks()
                .inRange("upload bytes", uploadBytes, 1, MOST_UPLOAD_BYTES)
                .inRange("pixels", pixels, 1, ImageInfo.MAX_PIXELS)
                .inRange("queue", queue, 1, MOST_QUEUE)
                .inRange("connections", connections, 1, 100_000)
                .inRange(
                        "timeout in seconds",
                        timeout.toMillis() / 1000.0,
                        0.1,
                        MOST_TIMEOUT.toMillis() / 1000.0)
                .throwIfAny();
    }

    long uploadBytesOfAll() {
        return 8L * uploadBytes;
    }
}
