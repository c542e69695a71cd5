package dev.saccade.core.structures;

/**
 * A height and a width in pixels, in that order, as in tensor shapes.
 *
 * @param height rows
 * @param width columns
 */
public record Size(int height, int width) {

    /** Returns this size rounded up to multiples of {@code divisor} on both axes. */
    public Size roundUpTo(int divisor) {
        return new Size(
                (height + divisor - 1) / divisor * divisor,
                (width + divisor - 1) / divisor * divisor);
    }

    /** Returns the smallest size that covers both. */
    public Size union(Size other) {
        return new Size(Math.max(height, other.height), Math.max(width, other.width));
    }

    /** Returns the number of pixels. */
    public long area() {
        return (long) height * width;
    }

    /** Returns {@code WxH}, as people say the size of a photograph. */
    public String widthFirst() {
        return width + "x" + height;
    }

    /** Returns {@code HxW}. */
    @Override
    public String toString() {
        return height + "x" + width;
    }
}
