package dev.saccade.datasets.transforms;

import dev.saccade.core.Text;
import dev.saccade.datasets.image.PixelFormat;

import org.opencv.core.Core;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Operations of OpenCV for images with more channels than OpenCV supports. */
final class Channels {

    /** Channels that a color of OpenCV has, and that warps support. */
    private static final int MAX = 4;

    private Channels() {}

    /** Applies an operation to groups of at most four channels; it returns a new image. */
    static Mat apply(Mat image, UnaryOperator<Mat> operation) {
        if (image.channels() <= MAX) {
            return operation.apply(image);
        }
        List<Mat> single = new ArrayList<>();
        Core.split(image, single);
        List<Mat> results = new ArrayList<>();
        for (int i = 0; i < single.size(); i += MAX) {
            Mat group = new Mat();
            Core.merge(single.subList(i, Math.min(i + MAX, single.size())), group);
            Mat result = operation.apply(group);
            List<Mat> split = new ArrayList<>();
            Core.split(result, split);
            results.addAll(split);
            group.release();
            result.release();
        }
        Mat merged = new Mat();
        Core.merge(results, merged);
        single.forEach(Mat::release);
        results.forEach(Mat::release);
        return merged;
    }

    /** Fills an image or a part of it with BGR, or with the first value if it is not BGR. */
    static void fill(Mat image, Scalar color) {
        if (image.channels() == 3) {
            image.setTo(color);
            return;
        }
        // A view with one channel, as a color has at most four.
        Mat flat = image.reshape(1);
        flat.setTo(Scalar.all(color.val[0]));
        flat.release();
    }

    static Mat filled(int height, int width, int type, double value) {
        Mat image = new Mat(height, width, type);
        fill(image, Scalar.all(value));
        return image;
    }

    /** Returns a color for {@link #apply}; the same value in all channels unless BGR. */
    static Scalar color(List<? extends Number> bgr, Mat image) {
        return image.channels() == 3
                ? new Scalar(
                        bgr.get(0).doubleValue(),
                        bgr.get(1).doubleValue(),
                        bgr.get(2).doubleValue())
                : Scalar.all(bgr.get(0).doubleValue());
    }

    /** Returns why a color does not fit images; empty if they are RGB or the color is gray. */
    static Optional<String> colorIncompatibility(
            String key, List<? extends Number> color, PixelFormat pixels) {
        return pixels.channels() == 3 || color.stream().distinct().count() == 1
                ? Optional.empty()
                : Optional.of(
                        Text.format(
                                "%s: got the color %s, but the images have %d channels; use three"
                                        + " equal values, which are used for all channels",
                                key, color, pixels.channels()));
    }

    /** Rotates; OpenCV supports at most 32 bytes per pixel. */
    static Mat rotate(Mat image, int code) {
        return apply(
                image,
                part -> {
                    Mat rotated = new Mat();
                    Core.rotate(part, rotated, code);
                    return rotated;
                });
    }
}
