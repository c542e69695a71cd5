package dev.saccade.datasets.convert;

import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;

/** A shape in pixels from the upper left corner of the image, except for {@link Fractions}. */
public sealed interface Outline {

    /** Returns the corners, {@code x0, y0, ...}; throws unless a box or polygon in pixels. */
    default double[] points() {
        throw new IllegalStateException("not a polygon");
    }

    default Outline inPixels(Size image) {
        return this;
    }

    record Box(double left, double top, double right, double bottom) implements Outline {

        @Override
        public double[] points() {
            return new double[] {left, top, right, top, right, bottom, left, bottom};
        }
    }

    /** A polygon, {@code x0, y0, x1, y1, ...}. */
    @SuppressWarnings("ArrayRecordComponent")
    record Ring(double[] points) implements Outline {

        private static final int FEWEST = 12;

        /** Approximates an ellipse to within a pixel, with as many corners as labelme. */
        public static Ring ofEllipse(double x, double y, double radiusX, double radiusY) {
            double radius = Math.max(Math.max(radiusX, radiusY), 1);
            int corners = Math.max((int) (Math.PI / Math.acos(1 - 1 / radius)), FEWEST);
            double[] points = new double[2 * corners];
            for (int i = 0; i < corners; i++) {
                double angle = 2 * Math.PI / corners * i;
                points[2 * i] = x + radiusX * Math.sin(angle);
                points[2 * i + 1] = y + radiusY * Math.cos(angle);
            }
            return new Ring(points);
        }

        /** Returns the polygon rotated clockwise around a point. */
        public Ring rotated(double degrees, double x, double y) {
            if (degrees == 0) {
                return this;
            }
            double cos = Math.cos(Math.toRadians(degrees));
            double sin = Math.sin(Math.toRadians(degrees));
            double[] rotated = new double[points.length];
            for (int i = 0; i < points.length; i += 2) {
                double right = points[i] - x;
                double down = points[i + 1] - y;
                rotated[i] = x + right * cos - down * sin;
                rotated[i + 1] = y + right * sin + down * cos;
            }
            return new Ring(rotated);
        }
    }

    /** A box or polygon in fractions of the image. */
    record Fractions(Outline shape) implements Outline {

        @Override
        public Outline inPixels(Size image) {
            int width = image.width();
            int height = image.height();
            if (shape instanceof Box b) {
                return new Box(b.left * width, b.top * height, b.right * width, b.bottom * height);
            }
            double[] points = shape.points().clone();
            for (int i = 0; i < points.length; i++) {
                points[i] *= i % 2 == 0 ? width : height;
            }
            return new Ring(points);
        }
    }

    /** An object in COCO's format, kept except for its id and label. */
    record Labeled(Annotation object) implements Outline {}

    /** A mask of a part of the image. */
    record Bitmap(int left, int top, Rle mask) implements Outline {}
}
