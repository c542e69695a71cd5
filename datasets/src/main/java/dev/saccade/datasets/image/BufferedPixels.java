package dev.saccade.datasets.image;

import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.awt.image.ColorModel;
import java.awt.image.ComponentColorModel;
import java.awt.image.DataBuffer;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.function.Function;

import javax.imageio.ImageIO;
import javax.imageio.stream.MemoryCacheImageInputStream;

/**
 * Converts images of the JDK to OpenCV's pixels.
 *
 * <p>Gray and RGB samples are copied as stored: {@link BufferedImage#getRGB} would brighten gray
 * samples, which it assumes to be linear.
 */
final class BufferedPixels {

    private static final int CHANNELS = 3;

    private BufferedPixels() {}

    /** Decodes with the JDK, which prints no warnings, and converts; throws on a damaged file. */
    static <T> T decode(
            String file,
            ImageHeader.Kind kind,
            byte[] bytes,
            Function<BufferedImage, T> conversion) {
        javax.imageio.ImageReader reader = ImageIO.getImageReadersByFormatName(kind.name()).next();
        try (MemoryCacheImageInputStream stream =
                new MemoryCacheImageInputStream(new ByteArrayInputStream(bytes))) {
            reader.setInput(stream, /* seekForwardOnly= */ true, /* ignoreMetadata= */ true);
            return conversion.apply(reader.read(0));
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            // ImageIO documents no exceptions for malformed input, so any exception is an error of
            // the file.
            throw ImageReader.refusal(file, kind + " is damaged and cannot be decoded", e);
        } finally {
            reader.dispose();
        }
    }

    /** Returns the pixels, [H, W, 3] BGR uint8; the caller frees them. */
    static Mat bgr(BufferedImage image) {
        int width = image.getWidth();
        byte[] bgr = new byte[Math.multiplyExact(CHANNELS * width, image.getHeight())];
        if (areSamplesColors(image.getColorModel())) {
            samples(image.getRaster(), bgr);
        } else {
            colors(image, bgr);
        }
        OpenCv.load();
        Mat mat = new Mat(image.getHeight(), width, CvType.CV_8UC3);
        mat.put(0, 0, bgr);
        return mat;
    }

    private static boolean areSamplesColors(ColorModel model) {
        ColorSpace space = model.getColorSpace();
        boolean whole =
                model.getTransferType() == DataBuffer.TYPE_BYTE
                        || model.getTransferType() == DataBuffer.TYPE_USHORT;
        return model instanceof ComponentColorModel
                && whole
                && !model.isAlphaPremultiplied()
                && (space.getType() == ColorSpace.TYPE_GRAY || space.isCS_sRGB());
    }

    private static void samples(Raster raster, byte[] bgr) {
        int width = raster.getWidth();
        int bands = raster.getNumBands();
        boolean gray = bands < CHANNELS;
        int spare = raster.getSampleModel().getSampleSize(0) - Byte.SIZE;
        int[] row = new int[width * bands];
        for (int y = 0, at = 0; y < raster.getHeight(); y++) {
            raster.getPixels(raster.getMinX(), raster.getMinY() + y, width, 1, row);
            for (int pixel = 0; pixel < row.length; pixel += bands) {
                for (int channel = CHANNELS - 1; channel >= 0; channel--) {
                    bgr[at++] = (byte) (row[pixel + (gray ? 0 : channel)] >> spare);
                }
            }
        }
    }

    private static void colors(BufferedImage image, byte[] bgr) {
        int[] row = new int[image.getWidth()];
        for (int y = 0, at = 0; y < image.getHeight(); y++) {
            image.getRGB(0, y, row.length, 1, row, 0, row.length);
            for (int rgb : row) {
                bgr[at++] = (byte) rgb;
                bgr[at++] = (byte) (rgb >> 8);
                bgr[at++] = (byte) (rgb >> 16);
            }
        }
    }
}
