package dev.saccade.datasets.image;

import com.google.common.base.Ascii;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ImageInfo;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Reads images of a {@link PixelFormat} as {@code [H, W, C]} float32 in 0..255. Three channels are
 * BGR, as with 8 bits; others are in the order of the file. NaN becomes 0.
 */
public final class PixelReader {

    private static final double SCALE = 255;
    private static final int RGB = 3;

    /** Limit of the values of an image, so that their bytes fit a Java array. */
    private static final long MAX_VALUES = (1L << 29) - 64;

    private PixelReader() {}

    /**
     * Reads an image and its {@linkplain PixelFormat#extraFiles extra files}; the caller frees the
     * pixels.
     *
     * @throws SaccadeException if a file cannot be used or has other channels; names the file
     */
    public static Mat read(Path file, PixelFormat format) {
        List<Path> extra = format.extraFiles(file);
        try (RasterFile first = RasterFiles.open(file, format.channels() - extra.size())) {
            Reading reading = new Reading(first, file.toString(), format);
            reading.add(first, file.toString(), format.channels() - extra.size());
            for (Path other : extra) {
                try (RasterFile more = RasterFiles.open(other, 1)) {
                    reading.add(more, other.toString(), 1);
                }
            }
            return reading.pixels();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    /**
     * Checks the channels of an image and its extra files without pixels; returns warnings.
     *
     * @throws SaccadeException if a file cannot be used or has other channels; names the file
     */
    public static List<String> warnings(Path file, PixelFormat format) {
        List<String> warnings = new ArrayList<>();
        List<Path> extra = format.extraFiles(file);
        int channels = format.channels() - extra.size();
        check(file, channels, format, warnings);
        extra.forEach(other -> check(other, 1, format, warnings));
        return warnings;
    }

    private static void check(Path file, int channels, PixelFormat format, List<String> warnings) {
        try (RasterFile raster = RasterFiles.open(file, channels)) {
            requireChannels(file.toString(), raster.channels(), channels);
            new Mapping(format, raster.type(), file.toString());
            warnings.addAll(raster.warnings());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    /** Reads an image in memory, which must have all channels. */
    public static Mat read(String name, byte[] encoded, PixelFormat format) {
        requireOneFile(name, format);
        try (RasterFile file = RasterFiles.open(name, encoded, format.channels())) {
            Reading reading = new Reading(file, name, format);
            reading.add(file, name, format.channels());
            return reading.pixels();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", name, e.getMessage());
        }
    }

    /** Maps the values of an OpenCV image, in the order of {@link PixelReader}; copies it. */
    public static Mat read(String name, Mat image, PixelFormat format) {
        requireOneFile(name, format);
        requireChannels(name, image.channels(), format.channels());
        boolean isByte = image.depth() == CvType.CV_8U;
        Mapping mapping = new Mapping(format, isByte ? SampleType.UINT8 : SampleType.FLOAT32, name);
        Mat scaled = new Mat();
        image.convertTo(scaled, CvType.CV_32F, mapping.factor, -mapping.low * mapping.factor);
        Mat flat = scaled.reshape(1);
        Core.patchNaNs(flat, 0);
        Core.max(flat, new Scalar(0), flat);
        Core.min(flat, new Scalar(SCALE), flat);
        flat.release();
        return scaled;
    }

    private static void requireOneFile(String name, PixelFormat format) {
        if (!format.extraFiles().isEmpty()) {
            throw SaccadeException.user(
                    "%s: has no extra files %s; give the path of a file with all extra files"
                            + " next to it",
                    name, format.extraFiles());
        }
    }

    private static void requireChannels(String name, int channels, int expected) {
        if (channels != expected) {
            throw SaccadeException.user(
                    "%s: has %d channels, expected %d; check data.channels%s",
                    name,
                    channels,
                    expected,
                    channels < expected ? ", or add data.extra_files" : "");
        }
    }

    /** Maps stored values to 0..255. */
    private static final class Mapping {

        private final SampleType type;
        private final double low;
        private final double factor;
        private final float[] table;

        Mapping(PixelFormat format, SampleType type, String name) {
            this.type = type;
            List<Double> range = format.range();
            if (range.isEmpty() && type != SampleType.UINT8) {
                throw SaccadeException.user(
                        "%s: has values of type %s; set data.range to the values of black and"
                                + " white, such as [0, 4095] for 12 bits",
                        name, Ascii.toLowerCase(type.name()));
            }
            low = range.isEmpty() ? 0 : range.get(0);
            factor = SCALE / ((range.isEmpty() ? SCALE : range.get(1)) - low);
            boolean isSmall = type == SampleType.UINT8 || type == SampleType.UINT16;
            table = new float[isSmall ? 1 << (type.bytes() * Byte.SIZE) : 0];
            for (int i = 0; i < table.length; i++) {
                table[i] = scale(i);
            }
        }

        private float scale(double value) {
            double scaled = (value - low) * factor;
            // NaN is not above 0.
            return scaled > 0 ? (float) Math.min(scaled, SCALE) : 0;
        }

        float read(ByteBuffer samples, int at) {
            return switch (type) {
                case UINT8 -> table[Byte.toUnsignedInt(samples.get(at))];
                case UINT16 -> table[Short.toUnsignedInt(samples.getShort(at))];
                default -> scale(type.read(samples, at));
            };
        }
    }

    /** The channels of an image that have been read so far. */
    private static final class Reading {

        private final PixelFormat format;
        private final int height;
        private final int width;
        private final List<Mat> parts = new ArrayList<>();

        Reading(RasterFile file, String name, PixelFormat format) {
            OpenCv.load();
            this.format = format;
            height = file.height();
            width = file.width();
            long pixels = (long) height * width;
            if (pixels > ImageInfo.MAX_PIXELS || pixels * format.channels() > MAX_VALUES) {
                throw SaccadeException.user(
                        "%s: %dx%d pixels of %d channels exceed the limit of %d million pixels and"
                                + " %d million values; cut the image into tiles",
                        name,
                        width,
                        height,
                        format.channels(),
                        ImageInfo.MAX_PIXELS / 1_000_000,
                        MAX_VALUES / 1_000_000);
            }
        }

        void add(RasterFile file, String name, int channels) {
            try {
                requireChannels(name, file.channels(), channels);
                if (file.height() != height || file.width() != width) {
                    throw SaccadeException.user(
                            "%s: has %dx%d pixels, but its image has %dx%d",
                            name, file.width(), file.height(), width, height);
                }
                parts.add(scaled(file.read(), new Mapping(format, file.type(), name)));
            } catch (RuntimeException e) {
                parts.forEach(Mat::release);
                throw e;
            }
        }

        private Mat scaled(Raster raster, Mapping mapping) {
            int channels = raster.channels();
            boolean isReversed = channels == RGB && format.channels() == RGB;
            Mat image = new Mat(height, width, CvType.CV_32FC(channels));
            float[] row = new float[width * channels];
            int bytes = raster.type().bytes();
            for (int y = 0; y < height; y++) {
                int at = raster.index(y, 0, 0);
                for (int i = 0; i < row.length; i++, at += bytes) {
                    row[i] = mapping.read(raster.samples(), at);
                }
                if (isReversed) {
                    reverse(row);
                }
                image.put(y, 0, row);
            }
            return image;
        }

        private static void reverse(float[] row) {
            for (int i = 0; i < row.length; i += RGB) {
                float first = row[i];
                row[i] = row[i + 2];
                row[i + 2] = first;
            }
        }

        Mat pixels() {
            if (parts.size() == 1) {
                return parts.get(0);
            }
            List<Mat> channels = new ArrayList<>();
            for (Mat part : parts) {
                List<Mat> split = new ArrayList<>();
                Core.split(part, split);
                channels.addAll(split);
            }
            if (format.channels() == RGB) {
                Collections.reverse(channels);
            }
            Mat merged = new Mat();
            Core.merge(channels, merged);
            parts.forEach(Mat::release);
            channels.forEach(Mat::release);
            return merged;
        }
    }
}
