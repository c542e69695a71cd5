package dev.saccade.datasets.image;

import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;

import java.awt.image.DataBuffer;
import java.awt.image.Raster;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The exact pixel values of a PNG: a gray image of 1 to 16 bits, or palette indices, never colors.
 * Ignores EXIF orientation.
 *
 * @param values [H * W] row by row, unsigned
 */
@SuppressWarnings("ArrayRecordComponent")
public record IndexPng(Size size, short[] values) {

    private static final long SIGNATURE = 0x89504E470D0A1A0AL;
    private static final int COLOR_TYPE = 25;
    private static final int PALETTE_BYTES = 1 << 20;

    /** Reads the values of a file; throws unless it is a valid PNG with one value per pixel. */
    public static IndexPng read(Path file) {
        byte[] bytes = ImageReader.readBytes(file);
        ImageHeader header = ImageHeader.read(file.toString(), bytes);
        if (header.kind() != ImageHeader.Kind.PNG) {
            throw SaccadeException.user(
                    "%s: is a %s; expected a PNG, which stores class indices without loss",
                    file, header.kind());
        }
        ImageReader.check(file.toString(), header);
        checkColors(file, bytes);
        try {
            // Without this check, damage in a label map would go unnoticed.
            PngChunks.check(bytes);
        } catch (IllegalArgumentException e) {
            throw ImageReader.damaged(file.toString(), header, e);
        }
        // The JDK's decoder changes gray levels if a chunk defines transparency.
        return BufferedPixels.decode(
                file.toString(),
                header.kind(),
                PngChunks.pixelsOnly(bytes),
                image -> copy(image.getRaster()));
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
                    "%s: PNG is %s; expected a gray image or a palette image with one class index"
                            + " per pixel; replace colors with class indices",
                    file, kind);
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

    /** Returns the number of pixels of each value, [65536]. */
    public int[] histogram() {
        int[] counts = new int[1 << Short.SIZE];
        for (short value : values) {
            counts[Short.toUnsignedInt(value)]++;
        }
        return counts;
    }

    /** Returns the position of the first pixel with this value; the value must occur. */
    public String first(int value) {
        int at = 0;
        while (Short.toUnsignedInt(values[at]) != value) {
            at++;
        }
        return "row " + at / size.width() + ", column " + at % size.width();
    }

    /**
     * Returns the colors as 0xRRGGBB without trailing black; empty unless the file is a readable
     * PNG with a palette in its first MiB.
     */
    public static List<Integer> palette(Path file) {
        try (InputStream stream = RegularFile.open(file)) {
            byte[] start = stream.readNBytes(PALETTE_BYTES);
            PngChunks chunks = new PngChunks(start);
            boolean isPng =
                    start.length >= Long.BYTES && ByteBuffer.wrap(start).getLong() == SIGNATURE;
            while (isPng && chunks.next() && !chunks.isPixels()) {
                if (chunks.isPalette()) {
                    return colors(chunks.content());
                }
            }
        } catch (IOException | SaccadeException e) {
            // The check of the label map reports why the file cannot be read.
        }
        return List.of();
    }

    private static List<Integer> colors(ByteBuffer rgb) {
        List<Integer> colors = new ArrayList<>();
        while (rgb.remaining() >= 3) {
            colors.add((rgb.getShort() & 0xFFFF) << Byte.SIZE | (rgb.get() & 0xFF));
        }
        while (!colors.isEmpty() && colors.get(colors.size() - 1) == 0) {
            colors.remove(colors.size() - 1);
        }
        return List.copyOf(colors);
    }
}
