package dev.saccade.datasets.transforms;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.imgproc.Imgproc;

import java.util.function.IntUnaryOperator;

/** Photometric distortion as in mmsegmentation: every step clips and truncates to bytes. */
final class ByteDistortion {

    private static final int LEVELS = 256;
    private static final int HUES = 180;

    private ByteDistortion() {}

    /** Returns a new image; hue is an integer in units of two degrees. */
    static Mat apply(Mat image, PhotometricDistortion.Parameters params) {
        Mat result = new Mat();
        image.convertTo(result, CvType.CV_8UC3);
        IntUnaryOperator same = value -> value;
        IntUnaryOperator contrast =
                value -> truncate(value * params.contrast().orElse(1.0).floatValue());
        params.brightness()
                .map(Double::floatValue)
                .ifPresent(delta -> map(result, value -> truncate(value + delta)));
        if (params.contrastFirst()) {
            map(result, contrast);
        }
        params.saturation()
                .map(Double::floatValue)
                .ifPresent(factor -> mapHsv(result, same, value -> truncate(value * factor)));
        params.hue()
                .map(Double::intValue)
                .ifPresent(
                        delta -> mapHsv(result, value -> Math.floorMod(value + delta, HUES), same));
        if (!params.contrastFirst()) {
            map(result, contrast);
        }
        return result;
    }

    private static void mapHsv(Mat image, IntUnaryOperator hue, IntUnaryOperator saturation) {
        Imgproc.cvtColor(image, image, Imgproc.COLOR_BGR2HSV);
        map(image, hue, saturation, value -> value);
        Imgproc.cvtColor(image, image, Imgproc.COLOR_HSV2BGR);
    }

    private static void map(Mat image, IntUnaryOperator... channels) {
        byte[] levels = new byte[LEVELS * channels.length];
        for (int i = 0; i < levels.length; i++) {
            levels[i] = (byte) channels[i % channels.length].applyAsInt(i / channels.length);
        }
        Mat table = new Mat(1, LEVELS, CvType.CV_8UC(channels.length));
        table.put(0, 0, levels);
        Core.LUT(image, table, image);
        table.release();
    }

    private static int truncate(float value) {
        return (int) Math.min(Math.max(value, 0), LEVELS - 1);
    }
}
