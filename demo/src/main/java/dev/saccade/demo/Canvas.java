package dev.saccade.demo;

import dev.saccade.core.structures.Size;

/** The picture while it is painted: three interleaved channels of linear light. */
final class Canvas {

    private final Size size;
    private final float[] rgb;

    /**
     * Paints the table.
     *
     * @param squash how much shorter the tilted camera sees the table from top to bottom
     */
    Canvas(Size size, Background background, Light light, double squash) {
        this.size = size;
        this.rgb = new float[Math.toIntExact(3 * size.area())];
        int columns = size.width() + 1;
        double pixel = 1.0 / Math.min(size.height(), size.width());
        Surface[] above = new Surface[columns];
        Surface[] row = new Surface[columns];
        for (int y = -1; y < size.height(); y++) {
            for (int x = 0; x < columns; x++) {
                row[x] = background.surface(x * pixel, y * pixel / squash);
            }
            for (int x = 1; x < columns && y >= 0; x++) {
                double slopeX = (row[x].height() - row[x - 1].height()) / pixel;
                double slopeY = (row[x].height() - above[x].height()) / pixel;
                set(x - 1, y, light.reflect(row[x], slopeX, slopeY));
            }
            Surface[] next = above;
            above = row;
            row = next;
        }
    }

    /** Returns the channels, {@code [H, W, 3]}, to work on. */
    float[] rgb() {
        return rgb;
    }

    /** Lays a thing on what is there: first its shadow, then itself. */
    void lay(Cutout cutout, Light light) {
        darken(castShadow(cutout, light), 0.85, light);
        darken(contactShadow(cutout), 0.55, light);
        float[] paint = cutout.paint(light);
        for (int y = first(cutout.top()); y < lastRow(cutout); y++) {
            for (int x = first(cutout.left()); x < lastColumn(cutout); x++) {
                float cover = cutout.cover(x, y);
                int from = 3 * (y * cutout.width() + x);
                int to = 3 * ((y + cutout.top()) * size.width() + x + cutout.left());
                for (int c = 0; c < 3; c++) {
                    rgb[to + c] += cover * (paint[from + c] - rgb[to + c]);
                }
            }
        }
    }

    /** The thing's outline swept away from the light, softer the higher it stands. */
    private float[] castShadow(Cutout cutout, Light light) {
        float[] shadow = new float[Math.toIntExact(size.area())];
        int steps = 1 + (int) Math.ceil(cutout.lift());
        for (int step = 1; step <= steps; step++) {
            double lift = cutout.lift() * step / steps;
            stamp(
                    shadow,
                    cutout,
                    (int) Math.rint(light.shadowX() * lift),
                    (int) Math.rint(light.shadowY() * lift));
        }
        Blur.gaussian(shadow, size, 0.6 + 0.3 * cutout.lift());
        return shadow;
    }

    /** The gap under the thing that little of the room's light reaches. */
    private float[] contactShadow(Cutout cutout) {
        float[] shadow = new float[Math.toIntExact(size.area())];
        stamp(shadow, cutout, 0, 0);
        Blur.gaussian(shadow, size, 0.8 + 0.5 * cutout.lift());
        return shadow;
    }

    private void stamp(float[] shadow, Cutout cutout, int shiftX, int shiftY) {
        for (int y = 0; y < cutout.height(); y++) {
            int row = y + cutout.top() + shiftY;
            for (int x = 0; row >= 0 && row < size.height() && x < cutout.width(); x++) {
                int column = x + cutout.left() + shiftX;
                if (column >= 0 && column < size.width()) {
                    int at = row * size.width() + column;
                    shadow[at] = Math.max(shadow[at], cutout.cover(x, y));
                }
            }
        }
    }

    private void darken(float[] shadow, double strength, Light light) {
        double red = strength * light.lost().red();
        double green = strength * light.lost().green();
        double blue = strength * light.lost().blue();
        for (int i = 0; i < shadow.length; i++) {
            rgb[3 * i] *= (float) (1 - red * shadow[i]);
            rgb[3 * i + 1] *= (float) (1 - green * shadow[i]);
            rgb[3 * i + 2] *= (float) (1 - blue * shadow[i]);
        }
    }

    private void set(int x, int y, Color color) {
        int at = 3 * (y * size.width() + x);
        rgb[at] = (float) color.red();
        rgb[at + 1] = (float) color.green();
        rgb[at + 2] = (float) color.blue();
    }

    private static int first(int edge) {
        return Math.max(-edge, 0);
    }

    private int lastRow(Cutout cutout) {
        return Math.min(cutout.height(), size.height() - cutout.top());
    }

    private int lastColumn(Cutout cutout) {
        return Math.min(cutout.width(), size.width() - cutout.left());
    }
}
