package dev.saccade.serve;

import dev.saccade.core.Checks;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.models.QueueLimits;

import java.time.Duration;

/**
 * Limits on clients.
 *
 * @param uploadBytes maximum bytes of a request; all requests together may hold 8 times as many
 * @param pixels maximum pixels per image; larger images are not decoded
 * @param queue maximum images in the queue, and per request
 * @param connections maximum open connections; more clients wait
 * @param timeout time to send a request, and again to receive the response
 */
public record ServerLimits(
        int uploadBytes, int pixels, int queue, int connections, Duration timeout) {

    public static final int MAX_UPLOAD_BYTES = 1 << 30;
    public static final int MAX_QUEUE = QueueLimits.MAX_IMAGES;
    public static final Duration MAX_TIMEOUT = Duration.ofHours(1);

    public static final ServerLimits DEFAULT =
            new ServerLimits(32 << 20, 64_000_000, 128, 512, Duration.ofSeconds(60));

    public ServerLimits {
        new Checks()
                .inRange("upload bytes", uploadBytes, 1, MAX_UPLOAD_BYTES)
                .inRange("pixels", pixels, 1, ImageInfo.MAX_PIXELS)
                .inRange("queue", queue, 1, MAX_QUEUE)
                .inRange("connections", connections, 1, 100_000)
                .inRange(
                        "timeout in seconds",
                        timeout.toMillis() / 1000.0,
                        0.1,
                        MAX_TIMEOUT.toMillis() / 1000.0)
                .throwIfAny();
    }

    long totalUploadBytes() {
        return 8L * uploadBytes;
    }

    /** Returns the maximum bytes of all binary responses; a label map always fits. */
    long totalResponseBytes() {
        return totalUploadBytes() + Integer.BYTES * (long) pixels;
    }
}
