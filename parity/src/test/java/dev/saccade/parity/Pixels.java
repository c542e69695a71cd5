package dev.saccade.parity;

import org.opencv.core.CvType;
import org.opencv.core.Mat;

/** Between recorded arrays, [H, W, C], and OpenCV's images. */
final class Pixels {

    private Pixels() {}

    /** Returns an image of OpenCV's {@code type}; the caller frees it. */
    static Mat mat(NumpyArray pixels, int type) {
        Mat mat = new Mat(pixels.size(0), pixels.size(1), type);
        if (CvType.depth(type) == CvType.CV_8U) {
            mat.put(0, 0, pixels.bytes());
        } else {
            mat.put(0, 0, pixels.floats());
        }
        return mat;
    }

    static NumpyArray of(Mat mat) {
        Mat doubles = new Mat();
        mat.convertTo(doubles, CvType.CV_64F);
        double[] values = new double[Math.toIntExact(doubles.total()) * doubles.channels()];
        doubles.get(0, 0, values);
        doubles.release();
        return NumpyArray.of(values).reshape(mat.rows(), mat.cols(), mat.channels());
    }
}
