package dev.saccade.report.runs;

import com.google.common.io.ByteSource;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.models.draw.Jpeg;

import org.opencv.core.Mat;
import org.opencv.imgproc.Imgproc;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.file.Path;

/** A photograph as a page shows it: upright, as JPEG, and no larger than a screen has use for. */
public final class ShownPhoto extends ByteSource {

    private static final int LONGEST_EDGE = 800;

    private final Path file;

    private ShownPhoto(Path file) {
        this.file = file;
    }

    /** Returns the photograph of a file, which is read when the picture is. */
    public static ByteSource of(Path file) {
        return new ShownPhoto(file);
    }

    /** Returns the size in which a photograph is shown. */
    public static Size size(Size photo, int longestEdge) {
        double scale = (double) longestEdge / Math.max(photo.width(), photo.height());
        return scale >= 1
                ? photo
                : new Size(
                        Math.max(1, (int) Math.rint(photo.height() * scale)),
                        Math.max(1, (int) Math.rint(photo.width() * scale)));
    }

    /** Makes an image smaller, in place. */
    public static void shrink(Mat image, int longestEdge) {
        Size shown = size(new Size(image.rows(), image.cols()), longestEdge);
        org.opencv.core.Size edges = new org.opencv.core.Size(shown.width(), shown.height());
        Imgproc.resize(image, image, edges, 0, 0, Imgproc.INTER_AREA);
    }

    @Override
    public InputStream openStream() {
        Mat image = ImageReader.read(file);
        try {
            shrink(image, LONGEST_EDGE);
            return new ByteArrayInputStream(Jpeg.encode(image));
        } finally {
            image.release();
        }
    }
}
