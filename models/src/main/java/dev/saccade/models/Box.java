package dev.saccade.models;

/**
 * Where an object is, in pixels of its photograph; pixel {@code (0, 0)} covers 0 to 1 each way.
 *
 * @param x1 left edge
 * @param y1 top edge
 * @param x2 right edge
 * @param y2 bottom edge
 */
public record Box(double x1, double y1, double x2, double y2) {

    /** Returns the distance of the right edge from the left one. */
    public double width() {
        return x2 - x1;
    }

    /** Returns the distance of the bottom edge from the top one. */
    public double height() {
        return y2 - y1;
    }
}
