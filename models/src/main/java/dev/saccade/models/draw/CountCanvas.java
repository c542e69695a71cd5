package dev.saccade.models.draw;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.structures.Size;

import org.opencv.core.Mat;
import org.opencv.core.MatOfPoint;
import org.opencv.core.Point;
import org.opencv.core.Rect;
import org.opencv.core.Scalar;
import org.opencv.imgproc.Imgproc;

import java.util.List;
import java.util.stream.IntStream;

/** Draws lines and zones with the number of counted objects. */
public final class CountCanvas {

    private static final Scalar COLOR = new Scalar(0, 230, 255);

    private CountCanvas() {}

    /**
     * Draws a line or polygon on an image, [H, W, 3] BGR uint8, in place.
     *
     * @param corners {@code x, y, x, y, ...}; two points are a line, with an arrow to its left side
     *     as seen from the first point to the second
     * @param text written at the first corner
     */
    public static void draw(Mat image, ImmutableDoubleArray corners, String text) {
        TextStyle style = TextStyle.of(new Size(image.rows(), image.cols()));
        Point[] points =
                IntStream.range(0, corners.length() / 2)
                        .mapToObj(i -> new Point(corners.get(2 * i), corners.get(2 * i + 1)))
                        .toArray(Point[]::new);
        MatOfPoint polygon = new MatOfPoint(points);
        try {
            Imgproc.polylines(
                    image,
                    List.of(polygon),
                    /* isClosed= */ points.length > 2,
                    COLOR,
                    style.line() + 1,
                    Imgproc.LINE_AA);
        } finally {
            polygon.release();
        }
        org.opencv.core.Size size = style.size(text);
        if (points.length == 2) {
            arrow(image, points[0], points[1], 2 * size.height, style.line() + 1);
        }
        double x = Math.max(2, Math.min(points[0].x, image.cols() - size.width - 4));
        double y = Math.max(size.height + 2, Math.min(points[0].y - 4, image.rows() - 4.0));
        Imgproc.rectangle(
                image,
                new Point(x - 2, y - size.height - 2),
                new Point(x + size.width + 2, y + 3),
                COLOR,
                Imgproc.FILLED);
        style.write(image, text, new Point(x, y), TextStyle.BLACK);
    }

    private static void arrow(Mat image, Point from, Point to, double length, int thickness) {
        double scale = length / Math.hypot(to.x - from.x, to.y - from.y);
        Point start = from.clone();
        Point end = to.clone();
        Imgproc.clipLine(new Rect(0, 0, image.cols(), image.rows()), start, end);
        Point middle = new Point((start.x + end.x) / 2, (start.y + end.y) / 2);
        Point tip =
                new Point(middle.x + scale * (to.y - from.y), middle.y - scale * (to.x - from.x));
        Imgproc.arrowedLine(image, middle, tip, COLOR, thickness, Imgproc.LINE_AA, 0, 0.4);
    }
}
