package dev.saccade.datasets;

import com.google.common.primitives.ImmutableDoubleArray;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.util.ArrayList;
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
        List<Mat> channels = new ArrayList<>();
        Core.split(image, channels);
        ImmutableDoubleArray.Builder sums = ImmutableDoubleArray.builder();
        ImmutableDoubleArray.Builder squares = ImmutableDoubleArray.builder();
        int count = channels.size();
        for (int i = 0; i < count; i++) {
            Mat channel = channels.get(count == RGB ? RGB - 1 - i : i);
            Mat wide = new Mat();
            channel.convertTo(wide, CvType.CV_64F);
            sums.add(Core.sumElems(wide).val[0]);
            squares.add(wide.dot(wide));
            wide.release();
        }
        channels.forEach(Mat::release);
        return new ChannelStatistics(image.total(), sums.build(), squares.build());
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
