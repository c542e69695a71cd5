package dev.saccade.demo;

import dev.saccade.core.structures.Size;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.imgproc.Imgproc;

/** Gaussian blur of pictures of floats. */
final class Blur {

    private Blur() {}

    /**
     * Blurs a picture in place.
     *
     * @param values interleaved channels, {@code [H, W, C]}
     * @param sigma standard deviation in pixels
     */
    static void gaussian(float[] values, Size size, double sigma) {
        int channels = Math.toIntExact(values.length / size.area());
        Mat mat = new Mat(size.height(), size.width(), CvType.CV_32FC(channels));
        try {
            mat.put(0, 0, values);
            Imgproc.GaussianBlur(mat, mat, new org.opencv.core.Size(0, 0), sigma);
            mat.get(0, 0, values);
        } finally {
            mat.release();
        }
    }
}
