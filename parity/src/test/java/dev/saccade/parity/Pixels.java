package dev.saccade.parity;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;

import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.nio.FloatBuffer;
import java.util.List;

/** Converts between recorded arrays, [H, W, C], and OpenCV images. */
final class Pixels {

    private Pixels() {}

    /** Returns an image of an OpenCV type; the caller releases it. */
    static Mat mat(NumpyArray pixels, int type) {
        Mat mat = new Mat(pixels.size(0), pixels.size(1), type);
        if (CvType.depth(type) == CvType.CV_8U) {
            mat.put(0, 0, pixels.bytes());
        } else {
            mat.put(0, 0, pixels.floats());
        }
        return mat;
    }

    static List<Integer> shape(Size size) {
        return List.of(size.height(), size.width(), 3);
    }

    /** Returns the network input, [H, W, 3] RGB. */
    static NumpyArray written(Sample sample) {
        Size size = sample.info().padded();
        int plane = Math.toIntExact(size.area());
        FloatBuffer planes = FloatBuffer.allocate(3 * plane);
        sample.write(planes, 0, size);
        double[] pixels = new double[3 * plane];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = planes.get(i % 3 * plane + i / 3);
        }
        return NumpyArray.of(pixels).reshape(size.height(), size.width(), 3);
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
