package dev.saccade.datasets.pillow;

import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.util.Arrays;

/**
 * Resizes float32 images of any channels like Pillow's mode {@code F}: with the filters of {@link
 * PillowResize}, in double, without clipping.
 */
final class FloatResize {

    private FloatResize() {}

    /** Resizes an image; the caller frees the result. */
    static Mat resize(Mat image, int height, int width, Interpolation interpolation) {
        Filter across = Filter.of(image.cols(), 0, image.cols(), width, interpolation);
        Filter down = Filter.of(image.rows(), 0, image.rows(), height, interpolation);
        int channels = image.channels();
        float[] row = new float[image.cols() * channels];
        float[][] rows = new float[image.rows()][];
        for (int y = 0; y < rows.length; y++) {
            image.get(y, 0, row);
            rows[y] = horizontal(row, channels, across);
        }
        Mat resized = new Mat(height, width, CvType.CV_32FC(channels));
        double[] sums = new double[width * channels];
        float[] line = new float[sums.length];
        for (int y = 0; y < height; y++) {
            vertical(rows, down, y, sums);
            for (int i = 0; i < line.length; i++) {
                line[i] = (float) sums[i];
            }
            resized.put(y, 0, line);
        }
        return resized;
    }

    private static float[] horizontal(float[] row, int channels, Filter filter) {
        float[] result = new float[filter.size() * channels];
        for (int x = 0; x < filter.size(); x++) {
            double[] weights = filter.weights(x);
            for (int c = 0; c < channels; c++) {
                double sum = 0;
                int at = filter.first(x) * channels + c;
                for (double weight : weights) {
                    sum += row[at] * weight;
                    at += channels;
                }
                result[x * channels + c] = (float) sum;
            }
        }
        return result;
    }

    private static void vertical(float[][] rows, Filter filter, int y, double[] sums) {
        Arrays.fill(sums, 0);
        double[] weights = filter.weights(y);
        for (int k = 0; k < weights.length; k++) {
            float[] row = rows[filter.first(y) + k];
            double weight = weights[k];
            for (int i = 0; i < sums.length; i++) {
                sums[i] += row[i] * weight;
            }
        }
    }
}
