package dev.saccade.demo;

/**
 * A thing at its place in the picture: which pixels it covers, and how it looks in a light.
 *
 * <p>The cut-out is a rectangle of its own that may reach beyond the picture.
 */
final class Cutout {

    private static final int SAMPLES = 2;

    private final Thing thing;
    private final double centerX;
    private final double centerY;
    private final double radius;
    private final double cos;
    private final double sin;
    private final double squash;
    private final int left;
    private final int top;
    private final int width;
    private final int height;
    private final float[] cover;

    /**
     * Places a thing.
     *
     * @param centerX column of its origin, in pixels
     * @param centerY row of its origin, in pixels
     * @param radius pixels of one of its units
     * @param angle radians by which it is turned
     * @param squash how much shorter the tilted camera sees the table from top to bottom
     */
    Cutout(
            Thing thing,
            double centerX,
            double centerY,
            double radius,
            double angle,
            double squash) {
        this.thing = thing;
        this.centerX = centerX;
        this.centerY = centerY;
        this.radius = radius;
        this.cos = Math.cos(angle);
        this.sin = Math.sin(angle);
        this.squash = squash;
        this.left = (int) Math.floor(centerX - radius) - 1;
        this.top = (int) Math.floor(centerY - squash * radius) - 1;
        this.width = (int) Math.ceil(centerX + radius) + 1 - left;
        this.height = (int) Math.ceil(centerY + squash * radius) + 1 - top;
        this.cover = new float[width * height];
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                double distance = distance(x + 0.5, y + 0.5) * radius;
                cover[y * width + x] = (float) Math.min(Math.max(0.5 - distance, 0), 1);
            }
        }
    }

    /** Returns the first column in the picture. */
    int left() {
        return left;
    }

    /** Returns the first row in the picture. */
    int top() {
        return top;
    }

    /** Returns the number of columns. */
    int width() {
        return width;
    }

    /** Returns the number of rows. */
    int height() {
        return height;
    }

    /** Returns how many pixels it stands above the table. */
    double lift() {
        return thing.thickness() * radius;
    }

    /** Returns how much of a pixel of the cut-out is covered, 0 to 1. */
    float cover(int x, int y) {
        return cover[y * width + x];
    }

    /** Returns whether a pixel of the cut-out belongs to the thing. */
    boolean contains(int x, int y) {
        return cover(x, y) >= 0.5f;
    }

    /** Returns the number of pixels that belong to the thing, in the picture or not. */
    int area() {
        int area = 0;
        for (float share : cover) {
            area += share >= 0.5f ? 1 : 0;
        }
        return area;
    }

    /** Returns how the thing looks: interleaved channels, {@code [height, width, 3]}. */
    float[] paint(Light light) {
        int columns = SAMPLES * width;
        Surface[] surfaces = surfaces();
        float[] rgb = new float[3 * width * height];
        for (int y = 0; y < SAMPLES * height; y++) {
            int back = y > 0 ? -columns : 0;
            int ahead = y < SAMPLES * height - 1 ? columns : 0;
            for (int x = 0; x < columns; x++) {
                int pixel = y / SAMPLES * width + x / SAMPLES;
                if (cover[pixel] > 0) {
                    int at = y * columns + x;
                    double slopeX = slope(surfaces, at, x > 0 ? -1 : 0, x < columns - 1 ? 1 : 0);
                    double slopeY = slope(surfaces, at, back, ahead);
                    Color seen = light.reflect(surfaces[at], slopeX, slopeY);
                    rgb[3 * pixel] += (float) (seen.red() / (SAMPLES * SAMPLES));
                    rgb[3 * pixel + 1] += (float) (seen.green() / (SAMPLES * SAMPLES));
                    rgb[3 * pixel + 2] += (float) (seen.blue() / (SAMPLES * SAMPLES));
                }
            }
        }
        return rgb;
    }

    /** The surface at every sample of the covered pixels and their neighbors, row by row. */
    private Surface[] surfaces() {
        int columns = SAMPLES * width;
        Surface[] surfaces = new Surface[columns * SAMPLES * height];
        for (int y = 0; y < SAMPLES * height; y++) {
            for (int x = 0; x < columns; x++) {
                if (nearCovered(x / SAMPLES, y / SAMPLES)) {
                    double u = u((x + 0.5) / SAMPLES, (y + 0.5) / SAMPLES);
                    double v = v((x + 0.5) / SAMPLES, (y + 0.5) / SAMPLES);
                    surfaces[y * columns + x] = thing.surface(u, v);
                }
            }
        }
        return surfaces;
    }

    private double slope(Surface[] surfaces, int at, int back, int ahead) {
        int from = surfaces[at + back] == null ? at : at + back;
        int to = surfaces[at + ahead] == null ? at : at + ahead;
        int steps = (from == at ? 0 : 1) + (to == at ? 0 : 1);
        double rise = (surfaces[to].height() - surfaces[from].height()) * radius;
        return steps == 0 ? 0 : rise * SAMPLES / steps;
    }

    private boolean nearCovered(int x, int y) {
        return cover(x, y) > 0
                || cover(Math.max(x - 1, 0), y) > 0
                || cover(Math.min(x + 1, width - 1), y) > 0
                || cover(x, Math.max(y - 1, 0)) > 0
                || cover(x, Math.min(y + 1, height - 1)) > 0;
    }

    /** Returns the distance to the outline, or to the circle around it where that is far off. */
    private double distance(double x, double y) {
        double u = u(x, y);
        double v = v(x, y);
        double beyond = Math.hypot(u, v) - 1;
        return beyond * radius > 1 ? beyond : thing.distance(u, v);
    }

    private double u(double x, double y) {
        double dx = left + x - centerX;
        double dy = (top + y - centerY) / squash;
        return (cos * dx + sin * dy) / radius;
    }

    private double v(double x, double y) {
        double dx = left + x - centerX;
        double dy = (top + y - centerY) / squash;
        return (cos * dy - sin * dx) / radius;
    }
}
