package dev.saccade.configgen;

import com.google.common.base.Ascii;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.ChannelStatistics;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.image.ImageHeader;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.image.PixelReader;
import dev.saccade.datasets.image.Raster;
import dev.saccade.datasets.image.RasterFile;
import dev.saccade.datasets.image.RasterFiles;
import dev.saccade.datasets.image.SampleType;

import org.opencv.core.Mat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Channels and values of TIFFs and NumPy arrays that are not 8-bit gray, RGB or RGBA, from a sample
 * of the training images.
 *
 * @param low lowest value of the sample; likewise {@code high}
 */
public record StoredPixels(
        PixelFormat format,
        SampleType type,
        double low,
        double high,
        int images,
        ChannelStatistics statistics) {

    private static final int SAMPLED = 50;
    private static final Set<Integer> DECODED_CHANNELS = Set.of(1, 3, 4);

    /** Reads the sample; empty if images are decoded to 8-bit RGB. */
    static Optional<StoredPixels> of(Dataset data) {
        int step = Math.max(1, data.size() / SAMPLED);
        List<Path> files =
                IntStream.range(0, data.size())
                        .filter(i -> i % step == 0)
                        .mapToObj(i -> data.image(i).file())
                        .toList();
        if (files.isEmpty() || isDecoded(files.get(0))) {
            return Optional.empty();
        }
        double low = Double.POSITIVE_INFINITY;
        double high = Double.NEGATIVE_INFINITY;
        SampleType type = SampleType.UINT8;
        int channels = 0;
        for (Path file : files) {
            try (RasterFile opened = RasterFiles.open(file, 1)) {
                Raster raster = opened.read();
                channels = channels == 0 ? raster.channels() : channels;
                type = raster.type();
                for (int y = 0; y < raster.height(); y++) {
                    for (int x = 0; x < raster.width(); x++) {
                        for (int c = 0; c < raster.channels(); c++) {
                            double value = raster.value(y, x, c);
                            low = Double.isFinite(value) ? Math.min(low, value) : low;
                            high = Double.isFinite(value) ? Math.max(high, value) : high;
                        }
                    }
                }
            } catch (IOException e) {
                throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
            }
        }
        PixelFormat format = format(channels, type, low, high);
        return Optional.of(
                new StoredPixels(
                        format,
                        type,
                        low,
                        high,
                        files.size(),
                        files.stream()
                                .map(file -> statistics(file, format))
                                .reduce(ChannelStatistics::plus)
                                .orElseThrow()));
    }

    private static boolean isDecoded(Path file) {
        ImageHeader header;
        try {
            header = ImageHeader.read(file);
        } catch (SaccadeException e) {
            // The check of the data set reports unreadable images.
            return true;
        }
        return switch (header.kind()) {
            case NUMPY -> false;
            case TIFF -> header.bits() <= Byte.SIZE && DECODED_CHANNELS.contains(header.channels());
            default -> true;
        };
    }

    /** Returns the smallest range of 8 or more bits for unsigned values, else the values found. */
    private static PixelFormat format(int channels, SampleType type, double low, double high) {
        boolean isUnsigned =
                type == SampleType.UINT8 || type == SampleType.UINT16 || type == SampleType.UINT32;
        if (!isUnsigned) {
            return PixelFormat.of(channels, low < high ? low : 0, low < high ? high : 1);
        }
        int bits = Math.max(Byte.SIZE, Long.SIZE - Long.numberOfLeadingZeros((long) high));
        return PixelFormat.of(channels, 0, (double) ((1L << bits) - 1));
    }

    private static ChannelStatistics statistics(Path file, PixelFormat format) {
        Mat image = PixelReader.read(file, format);
        try {
            return ChannelStatistics.of(image);
        } finally {
            image.release();
        }
    }

    String describe() {
        return Text.format(
                "%d channels of %s, %s to %s in %d images",
                format.channels(),
                Ascii.toLowerCase(type.name()),
                number(low),
                number(high),
                images);
    }

    /** Returns the lines of {@code data} for the channels and the range. */
    String settings() {
        return Text.format(
                "  channels: %d\n  range: [%s, %s]",
                format.channels(), number(format.range().get(0)), number(format.range().get(1)));
    }

    String normalize() {
        return Text.format(
                "{type: normalize, mean: %s, std: %s}",
                statistics.mean().stream().map(each -> Text.format("%.2f", each)).toList(),
                // Constant channels have no deviation.
                statistics.std().stream()
                        .map(each -> Text.format("%.2f", Math.max(1, each)))
                        .toList());
    }

    private static String number(double value) {
        return Math.rint(value) == value ? Text.format("%.0f", value) : Text.format("%.6g", value);
    }
}
