package dev.saccade.examples;

import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.awt.image.Raster;
import java.io.IOException;
import java.nio.file.Path;

import javax.imageio.ImageIO;

final class RgbImage {

    private static final int BITS = 3 * Byte.SIZE;

    /** Interpolation weight 1.0 in fixed-point arithmetic. */
    private static final int WHOLE = 2048;

    private final int width;
    private final int height;

    /** Pixels as {@code 0xRRGGBB}. */
    private final int[] colors;

    private RgbImage(int width, int height, int[] colors) {
        this.width = width;
        this.height = height;
        this.colors = colors;
    }

    /** Reads an image. ImageIO ignores the EXIF orientation. */
    static RgbImage read(Path file) throws IOException {
        BufferedImage image = ImageIO.read(file.toFile());
        if (image == null) {
            throw new IOException(file + ": is not an image that Java can read");
        }
        return new RgbImage(image.getWidth(), image.getHeight(), colors(image));
    }

    /**
     * Returns the pixels. Reads gray values from the raster, because getRGB would brighten them.
     */
    private static int[] colors(BufferedImage image) {
        int width = image.getWidth();
        int height = image.getHeight();
        Raster raster = image.getRaster();
        boolean isGray = raster.getNumBands() < 3;
        if (!isGray || image.getColorModel() instanceof IndexColorModel) {
            return image.getRGB(0, 0, width, height, null, 0, width);
        }
        int[] gray = raster.getSamples(0, 0, width, height, 0, (int[]) null);
        int spare = raster.getSampleModel().getSampleSize(0) - Byte.SIZE;
        for (int i = 0; i < gray.length; i++) {
            gray[i] = (gray[i] >> spare) * 0x010101;
        }
        return gray;
    }

    int width() {
        return width;
    }

    int height() {
        return height;
    }

    /** Returns red (0), green (1) or blue (2) of a pixel, 0 to 255. */
    int level(int channel, int x, int y) {
        return level(y * width + x, BITS - Byte.SIZE * (channel + 1));
    }

    private int level(int pixel, int shift) {
        return colors[pixel] >> shift & 0xFF;
    }

    /** Resizes bilinearly in fixed-point arithmetic, as OpenCV does (INTER_LINEAR). */
    RgbImage resize(int newWidth, int newHeight) {
        if (newWidth == width && newHeight == height) {
            return this;
        }
        int[] resized = new int[newWidth * newHeight];
        for (int y = 0, at = 0; y < newHeight; y++) {
            Between rows = Between.of(y, newHeight, height);
            for (int x = 0; x < newWidth; x++, at++) {
                Between columns = Between.of(x, newWidth, width);
                for (int shift = 0; shift < BITS; shift += Byte.SIZE) {
                    int upper = rows.near * (interpolate(rows.first, columns, shift) >> 4);
                    int lower = rows.far * (interpolate(rows.second, columns, shift) >> 4);
                    int level = ((upper >> 16) + (lower >> 16) + 2) >> 2;
                    resized[at] |= level << shift;
                }
            }
        }
        return new RgbImage(newWidth, newHeight, resized);
    }

    private int interpolate(int row, Between columns, int shift) {
        return columns.near * level(row * width + columns.first, shift)
                + columns.far * level(row * width + columns.second, shift);
    }

    /** Neighboring source pixels of a target pixel, and their weights, which sum to 2048. */
    private record Between(int first, int second, int near, int far) {

        static Between of(int pixel, int newEdge, int edge) {
            float center = (float) ((pixel + 0.5) * ((double) edge / newEdge) - 0.5);
            int first = (int) Math.floor(center);
            float share = center - first;
            if (first < 0 || first >= edge - 1) {
                int last = first < 0 ? 0 : edge - 1;
                return new Between(last, last, WHOLE, 0);
            }
            return new Between(
                    first,
                    first + 1,
                    (int) Math.rint((1 - share) * WHOLE),
                    (int) Math.rint(share * WHOLE));
        }
    }
}
