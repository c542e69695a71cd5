package dev.saccade.configgen;

import com.google.common.base.Ascii;
import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.ChannelStatistics;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.image.Raster;
import dev.saccade.datasets.image.RasterFile;
import dev.saccade.datasets.image.RasterFiles;
import dev.saccade.datasets.image.SampleType;
import dev.saccade.datasets.image.Window;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Stored values of an image, or of several. Large images are read in the center only, so that the
 * time and memory of an image is limited.
 *
 * @param file the first image
 * @param large number of images that were only read in the center
 * @param paged number of images with further pages, which were not read
 * @param values number of values per channel
 * @param low lowest value that is not NaN and at most 1e30; likewise {@code high}
 * @param used number of these values per channel
 * @param sums sum of these values per channel; likewise {@code squares} of the squares
 */
record ValueSample(
        Path file,
        int large,
        int paged,
        Set<String> types,
        boolean isUnsigned,
        long values,
        double low,
        double high,
        ImmutableDoubleArray used,
        ImmutableDoubleArray sums,
        ImmutableDoubleArray squares) {

    /** Limit of the values that are read of an image. */
    private static final double MAX_VALUES = 1 << 23;

    private static final Set<SampleType> UNSIGNED =
            Set.of(SampleType.UINT8, SampleType.UINT16, SampleType.UINT32);
    private static final double WHITE = 255;

    /** Limit of a range; larger values mean no data. */
    private static final double MAX_VALUE = 1e30;

    static ValueSample read(Path file) {
        try (RasterFile opened = RasterFiles.open(file, 1)) {
            Window window = center(opened);
            boolean isPart = window.width() < opened.width() || window.height() < opened.height();
            int paged = opened.warnings().isEmpty() ? 0 : 1;
            return of(file, isPart ? 1 : 0, paged, opened.read(window));
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    private static Window center(RasterFile file) {
        double values = (double) file.height() * file.width() * file.channels();
        double factor = Math.min(1, Math.sqrt(MAX_VALUES / values));
        int height = Math.max(1, (int) (file.height() * factor));
        int width = Math.max(1, (int) (file.width() * factor));
        return new Window((file.width() - width) / 2, (file.height() - height) / 2, width, height);
    }

    private static ValueSample of(Path file, int large, int paged, Raster raster) {
        int channels = raster.channels();
        double[] used = new double[channels];
        double[] sums = new double[channels];
        double[] squares = new double[channels];
        double low = Double.POSITIVE_INFINITY;
        double high = Double.NEGATIVE_INFINITY;
        for (int y = 0; y < raster.height(); y++) {
            for (int x = 0; x < raster.width(); x++) {
                for (int c = 0; c < channels; c++) {
                    double value = raster.value(y, x, c);
                    if (Math.abs(value) <= MAX_VALUE) {
                        used[c]++;
                        sums[c] += value;
                        squares[c] += value * value;
                        low = Math.min(low, value);
                        high = Math.max(high, value);
                    }
                }
            }
        }
        return new ValueSample(
                file,
                large,
                paged,
                Set.of(Ascii.toLowerCase(raster.type().name())),
                UNSIGNED.contains(raster.type()),
                (long) raster.height() * raster.width(),
                low,
                high,
                ImmutableDoubleArray.copyOf(used),
                ImmutableDoubleArray.copyOf(sums),
                ImmutableDoubleArray.copyOf(squares));
    }

    /** Adds images with the same number of channels. */
    ValueSample plus(ValueSample other) {
        Set<String> all = new TreeSet<>(types);
        all.addAll(other.types);
        return new ValueSample(
                file,
                large + other.large,
                paged + other.paged,
                all,
                isUnsigned && other.isUnsigned,
                values + other.values,
                Math.min(low, other.low),
                Math.max(high, other.high),
                add(used, other.used),
                add(sums, other.sums),
                add(squares, other.squares));
    }

    private static ImmutableDoubleArray add(ImmutableDoubleArray a, ImmutableDoubleArray b) {
        return ImmutableDoubleArray.copyOf(
                IntStream.range(0, a.length()).mapToDouble(i -> a.get(i) + b.get(i)));
    }

    int channels() {
        return sums.length();
    }

    /** Returns the statistics in 0..255 for a range with all values; other values are 0. */
    ChannelStatistics mapped(PixelFormat format) {
        double black = format.range().get(0);
        double factor = WHITE / (format.range().get(1) - black);
        ImmutableDoubleArray.Builder mapped = ImmutableDoubleArray.builder();
        ImmutableDoubleArray.Builder mappedSquares = ImmutableDoubleArray.builder();
        for (int c = 0; c < channels(); c++) {
            double shifted = sums.get(c) - black * used.get(c);
            mapped.add(factor * shifted);
            mappedSquares.add(factor * factor * (squares.get(c) - black * (shifted + sums.get(c))));
        }
        return new ChannelStatistics(values, mapped.build(), mappedSquares.build());
    }
}
