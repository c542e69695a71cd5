package dev.saccade.datasets.image;

import dev.saccade.core.SaccadeException;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Shows three channels of an image as {@code [H, W, 3]} BGR uint8. Each is stretched from its 2nd
 * to its 98th percentile, which are estimated from a sample of its pixels.
 */
public final class Composite {

    private static final double LOW = 0.02;
    private static final double HIGH = 0.98;
    private static final double WHITE = 255;
    private static final int SAMPLES = 20_000;
    private static final int RGB = 3;
    private static final int MAX_DECODED_CHANNELS = 4;

    private Composite() {}

    /** Shows an image read by {@link PixelReader}. */
    public static Mat of(Mat image, PixelFormat format) {
        List<Integer> shown = format.displayed();
        Mat composite = new Mat();
        List<Mat> channels =
                Stream.of(shown.get(2), shown.get(1), shown.get(0))
                        .map(index -> stretched(image, index, format.channels()))
                        .toList();
        Core.merge(channels, composite);
        channels.forEach(Mat::release);
        return composite;
    }

    /**
     * Shows an image file, whatever its format: images of 8 bits and at most four channels as with
     * {@link ImageReader}, others by their first three channels.
     */
    public static Mat read(Path file) {
        ImageHeader header = ImageHeader.read(file);
        boolean isDecoded =
                header.bits() <= Byte.SIZE
                        && header.channels() <= MAX_DECODED_CHANNELS
                        && header.kind() != ImageHeader.Kind.NUMPY;
        return isDecoded ? ImageReader.read(file) : stored(file);
    }

    /**
     * Shows an image file of a format with its extra files; files of 8-bit RGB data may have any
     * format, see {@link #read(Path)}.
     */
    public static Mat read(Path file, PixelFormat format) {
        if (format.isRgb8()) {
            return read(file);
        }
        Mat values = PixelReader.read(file, format);
        try {
            return of(values, format);
        } finally {
            values.release();
        }
    }

    private static Mat stored(Path file) {
        try (RasterFile raster = RasterFiles.open(file, 1)) {
            Raster values = raster.read();
            int channels = values.channels();
            Mat image = new Mat(values.height(), values.width(), CvType.CV_32FC3);
            float[] row = new float[values.width() * RGB];
            for (int y = 0; y < values.height(); y++) {
                for (int i = 0; i < row.length; i++) {
                    int channel = channels < RGB ? 0 : RGB - 1 - i % RGB;
                    double value = values.value(y, i / RGB, channel);
                    row[i] = Double.isFinite(value) ? (float) value : 0;
                }
                image.put(y, 0, row);
            }
            try {
                return of(image, PixelFormat.RGB);
            } finally {
                image.release();
            }
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    private static Mat stretched(Mat image, int index, int channels) {
        Mat channel = new Mat();
        Core.extractChannel(image, channel, channels == RGB ? RGB - 1 - index : index);
        float[] sample = sample(channel);
        Arrays.sort(sample);
        double low = sample[(int) (LOW * (sample.length - 1))];
        double high = sample[(int) Math.ceil(HIGH * (sample.length - 1))];
        double factor = high > low ? WHITE / (high - low) : 1;
        Mat bytes = new Mat();
        channel.convertTo(bytes, CvType.CV_8U, factor, -low * factor);
        channel.release();
        return bytes;
    }

    private static float[] sample(Mat channel) {
        int step = (int) Math.max(1, Math.ceil(Math.sqrt((double) channel.total() / SAMPLES)));
        float[] row = new float[channel.cols()];
        int rows = (channel.rows() + step - 1) / step;
        int columns = (channel.cols() + step - 1) / step;
        float[] sample = new float[rows * columns];
        int count = 0;
        for (int y = 0; y < channel.rows(); y += step) {
            channel.get(y, 0, row);
            for (int x = 0; x < row.length; x += step) {
                sample[count++] = row[x];
            }
        }
        return sample;
    }
}
