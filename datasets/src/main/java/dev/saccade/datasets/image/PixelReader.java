package dev.saccade.datasets.image;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ImageInfo;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * Reads images of a {@link PixelFormat} as {@code [H, W, C]} float32 in 0..255. Three channels are
 * BGR, as with 8 bits; others are in the order of the file. NaN becomes 0.
 */
public final class PixelReader {

    private PixelReader() {}

    /**
     * Reads an image and its {@linkplain PixelFormat#extraFiles extra files}; the caller frees the
     * pixels.
     *
     * @throws SaccadeException if a file cannot be used or has other channels; names the file
     */
    public static Mat read(Path file, PixelFormat format) {
        return read(file, format, ImageInfo.MAX_PIXELS, warning -> {});
    }

    static Mat read(Path file, PixelFormat format, long maxPixels, Consumer<String> warnings) {
        try (PixelFile opened = PixelFile.open(file, format)) {
            opened.requireAtMost(maxPixels);
            opened.warnings().forEach(warnings);
            return opened.read();
        }
    }

    /** Reads an image in memory, which must have all channels. */
    static Mat read(
            String name,
            byte[] encoded,
            PixelFormat format,
            long maxPixels,
            Consumer<String> warnings) {
        try (PixelFile opened = PixelFile.open(name, encoded, format)) {
            opened.requireAtMost(maxPixels);
            opened.warnings().forEach(warnings);
            return opened.read();
        }
    }

    /** Maps the values of an OpenCV image, in the order of {@link PixelReader}; copies it. */
    public static Mat read(String name, Mat image, PixelFormat format) {
        PixelFile.requireOneFile(name, format);
        PixelFile.requireChannels(name, image.channels(), format.channels());
        boolean isByte = image.depth() == CvType.CV_8U;
        ValueMapping mapping =
                new ValueMapping(format, isByte ? SampleType.UINT8 : SampleType.FLOAT32, name);
        Mat scaled = new Mat();
        double factor = mapping.factor();
        image.convertTo(scaled, CvType.CV_32F, factor, -mapping.low() * factor);
        Mat flat = scaled.reshape(1);
        Core.patchNaNs(flat, 0);
        Core.max(flat, new Scalar(0), flat);
        Core.min(flat, new Scalar(ValueMapping.WHITE), flat);
        flat.release();
        return scaled;
    }
}
