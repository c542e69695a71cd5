package dev.saccade.datasets.transforms;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;
import org.opencv.imgproc.Imgproc;

import java.util.ArrayList;
import java.util.List;

/** Photometric distortion as in mmdetection: float32 without clipping. */
final class FloatDistortion {

    private static final double FULL_CIRCLE = 360;

    private FloatDistortion() {}

    /** Returns a new image; hue is in degrees, at most 360. */
    static Mat apply(Mat image, PhotometricDistortion.Parameters params) {
        Mat result = new Mat();
        image.convertTo(result, CvType.CV_32FC3);
        params.brightness().ifPresent(delta -> Core.add(result, Scalar.all(delta), result));
        if (params.contrastFirst()) {
            params.contrast()
                    .ifPresent(factor -> Core.multiply(result, Scalar.all(factor), result));
        }
        // mmdetection converts to HSV and back even if saturation and hue are unchanged.
        changeColors(result, params);
        if (!params.contrastFirst()) {
            params.contrast()
                    .ifPresent(factor -> Core.multiply(result, Scalar.all(factor), result));
        }
        if (!params.permutation().isEmpty()) {
            permute(result, params.permutation());
        }
        return result;
    }

    private static void changeColors(Mat image, PhotometricDistortion.Parameters params) {
        Imgproc.cvtColor(image, image, Imgproc.COLOR_BGR2HSV);
        List<Mat> channels = new ArrayList<>();
        Core.split(image, channels);
        params.saturation()
                .ifPresent(
                        factor ->
                                Core.multiply(
                                        channels.get(1), Scalar.all(factor), channels.get(1)));
        params.hue().ifPresent(degrees -> rotateHue(channels.get(0), degrees));
        Core.merge(channels, image);
        channels.forEach(Mat::release);
        Imgproc.cvtColor(image, image, Imgproc.COLOR_HSV2BGR);
    }

    private static void rotateHue(Mat hue, double degrees) {
        float[] values = new float[Math.toIntExact(hue.total())];
        hue.get(0, 0, values);
        for (int i = 0; i < values.length; i++) {
            float turned = values[i] + (float) degrees;
            if (turned > FULL_CIRCLE) {
                turned -= (float) FULL_CIRCLE;
            } else if (turned < 0) {
                turned += (float) FULL_CIRCLE;
            }
            values[i] = turned;
        }
        hue.put(0, 0, values);
    }

    private static void permute(Mat image, List<Integer> order) {
        List<Mat> channels = new ArrayList<>();
        Core.split(image, channels);
        Core.merge(order.stream().map(channels::get).toList(), image);
        channels.forEach(Mat::release);
    }
}
