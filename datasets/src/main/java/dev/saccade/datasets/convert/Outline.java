package dev.saccade.datasets.convert;

import dev.saccade.core.structures.Rle;
import dev.saccade.datasets.Annotation;

/** A shape that somebody has drawn on a photograph, in pixels from its upper left corner. */
sealed interface Outline {

    /** A box by its edges. */
    record Box(double left, double top, double right, double bottom) implements Outline {

        /** Returns the box as the polygon of its corners. */
        Ring ring() {
            return new Ring(new double[] {left, top, right, top, right, bottom, left, bottom});
        }
    }

    /**
     * A polygon.
     *
     * @param points {@code x0, y0, x1, y1, ...}
     */
    @SuppressWarnings("ArrayRecordComponent")
    record Ring(double[] points) implements Outline {

        private static final int FEWEST = 12;

        /**
         * Returns the polygon of an ellipse, of as many corners as labelme's own converter gives a
         * circle: no point of the outline is further than a pixel from it.
         */
        static Ring ofEllipse(double x, double y, double radiusX, double radiusY) {
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
        Ring rotated(double degrees, double x, double y) {
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

    /** What stands in COCO's format already, and stays as it is but for id and label. */
    record Labeled(Annotation object) implements Outline {}

    /** The pixels of a part of the photograph. */
    record Bitmap(int left, int top, Rle mask) implements Outline {}
}
