package dev.saccade.datasets.transforms;

import dev.saccade.core.structures.Size;

import org.opencv.core.Mat;

import java.util.List;

/** Resizes to fit a width and height, rounding sizes down like mmdetection's {@code Mosaic}. */
final class Fit {

    private Fit() {}

    /** Returns the factor that makes an image as large as possible in {@code [width, height]}. */
    static double ratio(Size image, List<Integer> scale) {
        return Math.min(
                (double) scale.get(1) / image.height(), (double) scale.get(0) / image.width());
    }

    static Size size(Size image, double ratio) {
        return new Size(
                Math.max(1, (int) (image.height() * ratio)),
                Math.max(1, (int) (image.width() * ratio)));
    }

    /** Returns a resized image, or another header of the same pixels if the size is equal. */
    static Mat resize(Mat image, Size target) {
        return image.rows() == target.height() && image.cols() == target.width()
                ? image.rowRange(0, image.rows())
                : Resize.resize(image, target, Resize.Backend.CV2);
    }
}
