package dev.saccade.core.structures;

/** Height and width in pixels, ordered as in tensor shapes. */
public record Size(int height, int width) {

    /** Rounds both sides up to multiples of {@code divisor}. */
    public Size roundUpTo(int divisor) {
        return new Size(
                (height + divisor - 1) / divisor * divisor,
                (width + divisor - 1) / divisor * divisor);
    }

    /** Divides both sides, rounded up. */
    public Size dividedBy(int divisor) {
        return new Size((height + divisor - 1) / divisor, (width + divisor - 1) / divisor);
    }

    /** Returns the smallest size that covers this size and another. */
    public Size union(Size other) {
        return new Size(Math.max(height, other.height), Math.max(width, other.width));
    }

    public long area() {
        return (long) height * width;
    }

    /** Returns {@code WxH}, the usual notation for image sizes. */
    public String widthFirst() {
        return width + "x" + height;
    }

    @Override
    public String toString() {
        return height + "x" + width;
    }
}
