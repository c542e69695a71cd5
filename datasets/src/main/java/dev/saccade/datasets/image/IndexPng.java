package dev.saccade.datasets.image;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;

import java.awt.image.DataBuffer;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;

import javax.imageio.ImageIO;
import javax.imageio.stream.MemoryCacheImageInputStream;

/**
 * The numbers that stand in a PNG, one a pixel, exactly: those of a gray image of 1 to 16 bits, or
 * the palette indices of an image with a palette, never its colors. An EXIF orientation has no
 * effect.
 *
 * @param size height and width
 * @param values [H * W] row by row, unsigned
 */
@SuppressWarnings("ArrayRecordComponent")
public record IndexPng(Size size, short[] values) {

    private static final int COLOR_TYPE = 25;

    /**
     * Returns the numbers of a file.
     *
     * @throws SaccadeException if it is missing, no PNG, one of several numbers a pixel, truncated,
     *     enormous or damaged; names the file
     */
    public static IndexPng read(Path file) {
        byte[] bytes = ImageReader.readBytes(file);
        ImageHeader header = ImageHeader.read(file.toString(), bytes);
        if (header.kind() != ImageHeader.Kind.PNG) {
            throw SaccadeException.user(
                    "%s: is a %s, labels are read from PNG, which keeps every number as it is",
                    file, header.kind());
        }
        ImageReader.check(file.toString(), header);
        checkColors(file, bytes);
        try {
            return copy(decode(pixelsOnly(bytes)));
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            // ImageIO promises nothing about hostile input, so any exception is a refusal.
            throw ImageReader.refusal(file.toString(), "PNG is damaged and cannot be decoded", e);
        }
    }

    private static void checkColors(Path file, byte[] bytes) {
        String kind =
                switch (bytes[COLOR_TYPE]) {
                    case 0, 3 -> "";
                    case 2 -> "RGB";
                    case 4 -> "gray with alpha";
                    case 6 -> "RGB with alpha";
                    default -> "of the unknown color type " + bytes[COLOR_TYPE];
                };
        if (!kind.isEmpty()) {
            throw SaccadeException.user(
                    "%s: PNG is %s, but labels have one number a pixel: expected a gray image or"
                            + " one with a palette; replace its colors by the numbers of classes",
                    file, kind);
        }
    }

    /**
     * Returns the file without the chunks that pixels do without; ImageIO changes gray levels where
     * there is a chunk of transparency. Checks the others, which ImageIO does not: a label that
     * became another one would not be noticed.
     */
    private static byte[] pixelsOnly(byte[] bytes) throws IOException {
        PngChunks chunks = new PngChunks(bytes);
        while (chunks.next()) {
            if (!chunks.isAncillary() && !chunks.isIntact()) {
                throw new IOException("a checksum is wrong");
            }
        }
        return PngChunks.only(chunk -> !chunk.isAncillary(), bytes);
    }

    private static Raster decode(byte[] bytes) throws IOException {
        javax.imageio.ImageReader reader = ImageIO.getImageReadersByFormatName("png").next();
        try (MemoryCacheImageInputStream stream =
                new MemoryCacheImageInputStream(new ByteArrayInputStream(bytes))) {
            reader.setInput(stream, /* seekForwardOnly= */ true, /* ignoreMetadata= */ true);
            return reader.read(0).getRaster();
        } finally {
            reader.dispose();
        }
    }

    private static IndexPng copy(Raster raster) {
        int width = raster.getWidth();
        int height = raster.getHeight();
        short[] values = new short[width * height];
        if (raster.getTransferType() == DataBuffer.TYPE_BYTE) {
            byte[] bytes = new byte[values.length];
            raster.getDataElements(0, 0, width, height, bytes);
            for (int i = 0; i < bytes.length; i++) {
                values[i] = (short) (bytes[i] & 0xFF);
            }
        } else {
            raster.getDataElements(0, 0, width, height, values);
        }
        return new IndexPng(new Size(height, width), values);
    }

    /** Returns how many pixels have each number, [65536]. */
    public int[] histogram() {
        int[] counts = new int[1 << Short.SIZE];
        for (short value : values) {
            counts[Short.toUnsignedInt(value)]++;
        }
        return counts;
    }

    /** Returns the place of the first pixel of a number that occurs. */
    public String first(int value) {
        int at = 0;
        while (Short.toUnsignedInt(values[at]) != value) {
            at++;
        }
        return "row " + at / size.width() + ", column " + at % size.width();
    }
}
