package dev.saccade.models.draw;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.structures.Size;

import org.opencv.core.Mat;
import org.opencv.core.MatOfPoint;
import org.opencv.core.Point;
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
     * @param corners {@code x, y, x, y, ...}; two points are a line
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
}
