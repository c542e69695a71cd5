package dev.saccade.models;

import dev.saccade.core.Checks;
import dev.saccade.core.structures.ImageInfo;

/**
 * Limits of a {@link PredictionQueue}.
 *
 * @param images maximum images that are waiting or in progress
 * @param batch maximum images per batch; segmenters always predict single images
 * @param pixels maximum pixels per image; larger images are not decoded
 */
public record QueueLimits(int images, int batch, int pixels) {

    public static final int MAX_IMAGES = 10_000;
    public static final int MAX_BATCH = 1000;

    public static final QueueLimits DEFAULT = new QueueLimits(128, 4, 64_000_000);

    public QueueLimits {
        new Checks()
                .inRange("queue", images, 1, MAX_IMAGES)
                .inRange("batch", batch, 1, MAX_BATCH)
                .inRange("pixels", pixels, 1, ImageInfo.MAX_PIXELS)
                .throwIfAny();
    }
}
