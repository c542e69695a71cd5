package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.io.Closer;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * An opened image of a {@link PixelFormat} with its extra files. Windows are read as by {@link
 * PixelReader}; TIFFs and NumPy arrays decode only what a window needs. Not thread-safe.
 */
public final class PixelFile implements Closeable {

    private static final int RGB = 3;

    /** Limit of the values of a window, so that their bytes fit a Java array. */
    private static final long MAX_VALUES = (1L << 29) - 64;

    private final String name;
    private final PixelFormat format;
    private final Closer closer = Closer.create();
    private final List<RasterFile> files = new ArrayList<>();
    private final List<ValueMapping> mappings = new ArrayList<>();

    private PixelFile(String name, PixelFormat format) {
        OpenCv.load();
        this.name = name;
        this.format = format;
    }

    /**
     * Opens an image and its {@linkplain PixelFormat#extraFiles extra files}.
     *
     * @throws SaccadeException if a file cannot be used or has other channels; names the file
     */
    public static PixelFile open(Path file, PixelFormat format) {
        List<Path> extra = format.extraFiles(file);
        int channels = format.channels() - extra.size();
        PixelFile opened = new PixelFile(file.toString(), format);
        try {
            opened.add(RasterFiles.open(file, channels), file.toString(), channels);
            for (Path other : extra) {
                opened.add(RasterFiles.open(other, 1), other.toString(), 1);
            }
            return opened;
        } catch (RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    /** Opens an image in memory, which must have all channels. */
    static PixelFile open(String name, byte[] encoded, PixelFormat format) {
        requireOneFile(name, format);
        PixelFile opened = new PixelFile(name, format);
        try {
            opened.add(RasterFiles.open(name, encoded, format.channels()), name, format.channels());
            return opened;
        } catch (RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    private void add(RasterFile file, String fileName, int channels) {
        files.add(closer.register(file));
        requireChannels(fileName, file.channels(), channels);
        RasterFile first = files.get(0);
        if (file.height() != first.height() || file.width() != first.width()) {
            throw SaccadeException.user(
                    "%s: has %dx%d pixels, but its image has %dx%d",
                    fileName, file.width(), file.height(), first.width(), first.height());
        }
        mappings.add(new ValueMapping(format, file.type(), fileName));
    }

    static void requireOneFile(String name, PixelFormat format) {
        if (!format.extraFiles().isEmpty()) {
            throw SaccadeException.user(
                    "%s: has no extra files %s; give the path of a file with all extra files"
                            + " next to it",
                    name, format.extraFiles());
        }
    }

    static void requireChannels(String name, int channels, int expected) {
        if (channels != expected) {
            throw SaccadeException.user(
                    "%s: has %s, expected %d; use images with %s%s, or correct data.channels and"
                            + " train again",
                    name,
                    Count.of(channels, "channel"),
                    expected,
                    Count.of(expected, "channel"),
                    channels < expected ? " (data.extra_files adds files)" : "");
        }
    }

    public Size size() {
        return new Size(files.get(0).height(), files.get(0).width());
    }

    /**
     * Returns warnings about ignored content, such as further pages, and about 8-bit files of a
     * larger range, without the file name.
     */
    public List<String> warnings() {
        List<String> warnings = new ArrayList<>();
        files.forEach(file -> warnings.addAll(file.warnings()));
        List<Double> range = format.range();
        boolean isByte = files.stream().allMatch(file -> file.type() == SampleType.UINT8);
        if (isByte && !range.isEmpty() && range.get(1) > ValueMapping.WHITE) {
            warnings.add(
                    Text.format(
                            "has 8-bit values, which are dark in data.range %s; use images with"
                                    + " the values of the training images, or correct data.range",
                            range));
        }
        return warnings;
    }

    /** Returns whether the whole image can be read as one window. */
    public boolean fitsMemory() {
        return size().area() * format.channels() <= MAX_VALUES;
    }

    /** Throws if the image has more pixels than allowed. */
    public void requireAtMost(long pixels) {
        if (size().area() > pixels) {
            throw SaccadeException.user(
                            "%s: %dx%d pixels exceed the limit of %d million; raise the limit"
                                    + " (ImageSource.maxPixels), or cut the image into tiles",
                            name, size().width(), size().height(), pixels / 1_000_000)
                    .withSettings("max-pixels");
        }
    }

    /** Reads the whole image; see {@link #read(Window)}. */
    Mat read() {
        return read((raster, mapping) -> {});
    }

    /** Reads the whole image; warns about NaN and about many values outside of the range. */
    public Mat read(Consumer<String> warnings) {
        ClippedValues clipped = new ClippedValues(format);
        Mat image = read(clipped::add);
        clipped.warnings().forEach(warnings);
        return image;
    }

    private Mat read(BiConsumer<Raster, ValueMapping> stored) {
        if (!fitsMemory()) {
            throw SaccadeException.user(
                    "%s: %dx%d pixels of %d channels exceed the limit of %d million values; predict"
                            + " it in tiles, or cut it into smaller images",
                    name,
                    size().width(),
                    size().height(),
                    format.channels(),
                    MAX_VALUES / 1_000_000);
        }
        return read(new Window(0, 0, size().width(), size().height()), stored);
    }

    /** Reads a part of the image; the caller frees it. */
    public Mat read(Window window) {
        checkArgument(
                (long) window.width() * window.height() * format.channels() <= MAX_VALUES,
                "window: %s is too large",
                window);
        return read(window, (raster, mapping) -> {});
    }

    private Mat read(Window window, BiConsumer<Raster, ValueMapping> stored) {
        List<Mat> parts = new ArrayList<>();
        try {
            for (int i = 0; i < files.size(); i++) {
                Raster raster = files.get(i).read(window);
                stored.accept(raster, mappings.get(i));
                parts.add(scaled(raster, mappings.get(i)));
            }
            return parts.size() == 1 ? parts.remove(0) : merged(parts);
        } finally {
            parts.forEach(Mat::release);
        }
    }

    private Mat scaled(Raster raster, ValueMapping mapping) {
        int channels = raster.channels();
        boolean isReversed = channels == RGB && format.channels() == RGB;
        Mat image = new Mat(raster.height(), raster.width(), CvType.CV_32FC(channels));
        float[] row = new float[raster.width() * channels];
        int bytes = raster.type().bytes();
        for (int y = 0; y < raster.height(); y++) {
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

    private Mat merged(List<Mat> parts) {
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
        channels.forEach(Mat::release);
        return merged;
    }

    @Override
    public void close() {
        try {
            closer.close();
        } catch (IOException e) {
            throw RasterFiles.unreadable(name, e);
        }
    }
}
