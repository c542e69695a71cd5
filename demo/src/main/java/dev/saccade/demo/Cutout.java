package dev.saccade.demo;

import static dev.saccade.demo.Shapes.between;

import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** An object placed in a scene, with its bounding rectangle, which may extend beyond the image. */
final class Cutout {

    private static final int SAMPLES = 2;

    private final ObjectTemplate template;
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

    /** Label and visible pixels; objects placed on top remove the pixels that they cover. */
    SceneObject object;

    /** Coverage of each pixel, 0 to 1. */
    final float[] cover;

    /** Places an object at random; {@code squash} is the foreshortening of the tilted camera. */
    Cutout(
            int label,
            ObjectTemplate template,
            double radius,
            double squash,
            Size size,
            SplittableRandom random) {
        this(
                label,
                template,
                radius,
                squash,
                size,
                between(random, 0, size.width()),
                between(random, 0, size.height()),
                between(random, 0, 2 * Math.PI));
    }

    /** Places an object at a center in pixels. */
    Cutout(
            int label,
            ObjectTemplate template,
            double radius,
            double squash,
            Size size,
            double centerX,
            double centerY,
            double angle) {
        this.template = template;
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
        for (int i = 0; i < cover.length; i++) {
            int y = i / width;
            double distance = distance(i % width + 0.5, y + 0.5) * radius;
            cover[i] = (float) Shapes.clamp(0.5 - distance);
        }
        this.object = new SceneObject(label, mask(size));
    }

    /** Returns the height above the table in pixels. */
    double lift() {
        return template.thickness() * radius;
    }

    /** Returns the number of pixels, including those outside the image. */
    long area() {
        return IntStream.range(0, cover.length).filter(i -> cover[i] >= 0.5f).count();
    }

    private Rle mask(Size size) {
        byte[] mask = new byte[Math.toIntExact(size.area())];
        forEachPixel(0, 0, size, (from, to) -> mask[to] = (byte) (cover[from] >= 0.5f ? 1 : 0));
        return Rle.encode(size, mask);
    }

    /** Accepts the index of a pixel in the cutout ({@code from}) and in the image ({@code to}). */
    interface PixelVisitor {
        void visit(int from, int to);
    }

    /** Visits the pixels of the shifted cutout that are inside the image. */
    void forEachPixel(int shiftX, int shiftY, Size size, PixelVisitor visitor) {
        for (int from = 0; from < cover.length; from++) {
            int x = left + shiftX + from % width;
            int y = top + shiftY + from / width;
            if (x >= 0 && x < size.width() && y >= 0 && y < size.height()) {
                visitor.visit(from, y * size.width() + x);
            }
        }
    }

    /** Returns the shaded object, {@code [height, width, 3]}. */
    float[] paint(Light light) {
        int columns = SAMPLES * width;
        Surface[] surfaces = new Surface[columns * SAMPLES * height];
        for (int at = 0; at < surfaces.length; at++) {
            int row = at / columns;
            double x = (at % columns + 0.5) / SAMPLES;
            double y = (row + 0.5) / SAMPLES;
            surfaces[at] = template.texture().at(u(x, y), v(x, y));
        }
        float[] rgb = new float[3 * width * height];
        for (int at = columns; at < surfaces.length - columns; at++) {
            int pixel = at / columns / SAMPLES * width + at % columns / SAMPLES;
            if (cover[pixel] > 0) {
                double slopeX = surfaces[at + 1].height() - surfaces[at - 1].height();
                double slopeY = surfaces[at + columns].height() - surfaces[at - columns].height();
                light.reflect(surfaces[at], slopeX * radius, slopeY * radius)
                        .times(1.0 / (SAMPLES * SAMPLES))
                        .addTo(rgb, pixel);
            }
        }
        return rgb;
    }

    /** Returns the signed distance to the outline, or from afar to the unit circle, in radii. */
    private double distance(double x, double y) {
        double u = u(x, y);
        double v = v(x, y);
        double beyond = Math.hypot(u, v) - 1;
        return beyond * radius > 1 ? beyond : template.outline().applyAsDouble(u, v);
    }

    private double u(double x, double y) {
        return (cos * (left + x - centerX) + sin * ((top + y - centerY) / squash)) / radius;
    }

    private double v(double x, double y) {
        return (cos * ((top + y - centerY) / squash) - sin * (left + x - centerX)) / radius;
    }
}
