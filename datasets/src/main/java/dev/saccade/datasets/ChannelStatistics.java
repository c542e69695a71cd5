package dev.saccade.datasets;

import com.google.common.primitives.ImmutableDoubleArray;

import org.opencv.core.Mat;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Sums over the values of each channel of images, mapped to 0..255; RGB if three channels.
 *
 * @param values number of values per channel
 * @param sums sum per channel; likewise {@code squares} of the squared values
 */
public record ChannelStatistics(
        long values, ImmutableDoubleArray sums, ImmutableDoubleArray squares) {

    private static final int RGB = 3;

    /** Returns the sums of an image, [H, W, C] float32 as by the loader. */
    public static ChannelStatistics of(Mat image) {
        int channels = image.channels();
        double[] sums = new double[channels];
        double[] squares = new double[channels];
        float[] row = new float[image.cols() * channels];
        for (int y = 0; y < image.rows(); y++) {
            image.get(y, 0, row);
            for (int c = 0; c < channels; c++) {
                double sum = 0;
                double square = 0;
                for (int i = c; i < row.length; i += channels) {
                    double value = row[i];
                    sum += value;
                    square += value * value;
                }
                int rgb = channels == RGB ? RGB - 1 - c : c;
                sums[rgb] += sum;
                squares[rgb] += square;
            }
        }
        return new ChannelStatistics(
                image.total(),
                ImmutableDoubleArray.copyOf(sums),
                ImmutableDoubleArray.copyOf(squares));
    }

    public ChannelStatistics plus(ChannelStatistics other) {
        return new ChannelStatistics(
                values + other.values, add(sums, other.sums), add(squares, other.squares));
    }

    private static ImmutableDoubleArray add(ImmutableDoubleArray a, ImmutableDoubleArray b) {
        return ImmutableDoubleArray.copyOf(
                IntStream.range(0, a.length()).mapToDouble(i -> a.get(i) + b.get(i)));
    }

    /** Returns the mean of each channel, for {@code normalize}. */
    public List<Double> mean() {
        return sums.stream().map(sum -> sum / values).boxed().toList();
    }

    /** Returns the standard deviation of each channel, for {@code normalize}. */
    public List<Double> std() {
        return IntStream.range(0, sums.length())
                .mapToObj(
                        i -> {
                            double mean = sums.get(i) / values;
                            return Math.sqrt(Math.max(0, squares.get(i) / values - mean * mean));
                        })
                .toList();
    }
}
