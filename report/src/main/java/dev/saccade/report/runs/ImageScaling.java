package dev.saccade.report.runs;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.Composite;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.models.draw.Jpeg;

import org.opencv.core.Mat;
import org.opencv.imgproc.Imgproc;

import java.nio.file.Path;
import java.util.Base64;

/** Resizes images for reports. */
public final class ImageScaling {

    private static final int MAX_EDGE = 800;

    private ImageScaling() {}

    /** Returns a base64 JPEG whose longer edge has at most 800 pixels. */
    public static String base64(Path file, PixelFormat format) {
        Mat image = Composite.read(file, format);
        try {
            shrink(image, MAX_EDGE);
            return base64(image);
        } finally {
            image.release();
        }
    }

    static String base64(Mat picture) {
        return Base64.getEncoder().encodeToString(Jpeg.encode(picture));
    }

    /** Returns the size scaled down until the longer edge is at most {@code longestEdge}. */
    static Size size(Size image, int longestEdge) {
        double scale = Math.min(1, (double) longestEdge / Math.max(image.width(), image.height()));
        return new Size(
                Math.max(1, (int) Math.rint(image.height() * scale)),
                Math.max(1, (int) Math.rint(image.width() * scale)));
    }

    public static void shrink(Mat image, int longestEdge) {
        Size size = size(new Size(image.rows(), image.cols()), longestEdge);
        org.opencv.core.Size edges = new org.opencv.core.Size(size.width(), size.height());
        Imgproc.resize(image, image, edges, 0, 0, Imgproc.INTER_AREA);
    }
}
