package dev.saccade.models;

/**
 * Corners of a bounding box in pixels of the original image; pixel {@code (0, 0)} covers 0 to 1.
 */
public record Box(double x1, double y1, double x2, double y2) {

    public double width() {
        return x2 - x1;
    }

    public double height() {
        return y2 - y1;
    }
}
