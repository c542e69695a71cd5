package dev.saccade.examples;

import com.fasterxml.jackson.databind.JsonNode;

import java.io.IOException;
import java.nio.FloatBuffer;
import java.util.List;

/** An image as the input of an exported model: resized, normalized and padded. */
final class PreprocessedImage {

    private static final int CHANNELS = 3;

    private final RgbImage original;
    private RgbImage image;
    private int paddedWidth;
    private int paddedHeight;
    private final float[] mean = {0, 0, 0};
    private final float[] std = {1, 1, 1};

    /**
     * Preprocesses an image as {@code model.json} describes; rejects unsupported transforms and
     * results that are larger than the model accepts.
     */
    PreprocessedImage(RgbImage original, JsonNode description) throws IOException {
        this.original = original;
        this.image = original;
        padTo(image.width(), image.height());
        for (JsonNode transform : description.path("transforms")) {
            switch (transform.path("type").asText()) {
                case "resize" -> resize(transform);
                case "normalize" -> normalize(transform);
                case "pad" -> pad(transform);
                default -> throw new IOException("unsupported transform: " + transform);
            }
        }
        JsonNode only = description.path("image_size");
        if (only.isArray()) {
            padTo(only.get(1).asInt(), only.get(0).asInt());
            if (image.width() > paddedWidth || image.height() > paddedHeight) {
                throw new IOException(
                        "the resized image has the height and width "
                                + List.of(image.height(), image.width())
                                + ", the model accepts "
                                + only);
            }
        }
    }

    private void resize(JsonNode transform) throws IOException {
        JsonNode edges = transform.path("scales").path(0);
        if (transform.path("scales").size() != 1 || !transform.path("ratio_range").isEmpty()) {
            throw new IOException("unsupported resize, expected a single size: " + transform);
        }
        if (!transform.path("backend").asText("cv2").equals("cv2")) {
            throw new IOException("unsupported resize, expected backend cv2: " + transform);
        }
        int one = edges.path(0).asInt();
        int other = edges.path(1).asInt();
        if (transform.path("keep_ratio").asBoolean()) {
            double toLong = (double) Math.max(one, other) / Math.max(image.width(), image.height());
            double toShort =
                    (double) Math.min(one, other) / Math.min(image.width(), image.height());
            double factor = Math.min(toLong, toShort);
            one = Math.max(1, (int) (image.width() * factor + 0.5));
            other = Math.max(1, (int) (image.height() * factor + 0.5));
        }
        int divisor = transform.path("divisor").asInt();
        image = image.resize(one, other).resize(roundUp(divisor, one), roundUp(divisor, other));
        padTo(image.width(), image.height());
    }

    private static int roundUp(int divisor, int edge) {
        return (edge + divisor - 1) / divisor * divisor;
    }

    private void normalize(JsonNode transform) {
        for (int channel = 0; channel < CHANNELS; channel++) {
            mean[channel] = (float) transform.path("mean").path(channel).asDouble();
            std[channel] = (float) transform.path("std").path(channel).asDouble();
        }
    }

    private void pad(JsonNode transform) {
        JsonNode size = transform.path("size");
        int divisor = transform.path("divisor").asInt();
        if (size.isEmpty()) {
            padTo(roundUp(divisor, image.width()), roundUp(divisor, image.height()));
        } else {
            padTo(
                    Math.max(image.width(), size.path(1).asInt()),
                    Math.max(image.height(), size.path(0).asInt()));
        }
    }

    private void padTo(int width, int height) {
        paddedWidth = width;
        paddedHeight = height;
    }

    long[] shape() {
        return new long[] {1, CHANNELS, paddedHeight, paddedWidth};
    }

    /** Returns the input {@code images} [1, 3, H, W], padded with zeros at the bottom and right. */
    FloatBuffer images() {
        FloatBuffer planes = FloatBuffer.allocate(CHANNELS * paddedHeight * paddedWidth);
        for (int channel = 0; channel < CHANNELS; channel++) {
            for (int y = 0; y < image.height(); y++) {
                int start = (channel * paddedHeight + y) * paddedWidth;
                for (int x = 0; x < image.width(); x++) {
                    float level = image.level(channel, x, y);
                    planes.put(start + x, (level - mean[channel]) / std[channel]);
                }
            }
        }
        return planes;
    }

    /** Returns the input {@code sizes}: width and height without padding. */
    FloatBuffer sizes() {
        return FloatBuffer.wrap(new float[] {image.width(), image.height()});
    }

    float scaleX() {
        return (float) image.width() / original.width();
    }

    float scaleY() {
        return (float) image.height() / original.height();
    }
}
