package dev.saccade.datasets.ade20k;

import dev.saccade.datasets.image.ImageFiles;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntBinaryOperator;
import java.util.zip.CRC32;
import java.util.zip.DeflaterOutputStream;

/** Writes PNGs of one number a pixel, bit by bit, and folders of images with them. */
public final class LabelFiles {

    /** Color types of PNG. */
    private static final int GRAY = 0;

    private static final int PALETTE = 3;

    private final Path folder;

    /** Begins a data set in the layout of ADE20K. */
    public LabelFiles(Path folder) {
        this.folder = folder;
    }

    /** Adds an image with a label map of its size. */
    public LabelFiles add(String name, int width, int height, IntBinaryOperator value) {
        return photo(name, ImageFiles.jpeg(width, height))
                .labels(name, gray(width, height, 8, value));
    }

    public LabelFiles photo(String name, byte[] bytes) {
        return write("images/training/" + name + ".jpg", bytes);
    }

    public LabelFiles labels(String name, byte[] bytes) {
        return write("annotations/training/" + name + ".png", bytes);
    }

    public LabelFiles write(String path, byte[] bytes) {
        Path file = folder.resolve(path);
        try {
            Files.createDirectories(file.getParent());
            Files.write(file, bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /**
     * Returns a gray PNG.
     *
     * @param bits 1, 2, 4, 8 or 16 a pixel
     * @param value the number at column x and row y
     */
    public static byte[] gray(int width, int height, int bits, IntBinaryOperator value) {
        return png(width, height, bits, new byte[0], new byte[0], value);
    }

    /** Returns a PNG whose palette has the same few colors again and again. */
    public static byte[] palette(int width, int height, int bits, IntBinaryOperator value) {
        byte[] colors = new byte[3 << bits];
        for (int i = 0; i < colors.length; i++) {
            colors[i] = (byte) (i * 90 % 7 * 40);
        }
        return png(width, height, bits, colors, new byte[] {0, 100}, value);
    }

    /** Returns a gray PNG in which one level is transparent. */
    public static byte[] transparent(
            int width, int height, int bits, int level, IntBinaryOperator value) {
        byte[] levels = {(byte) (level >> 8), (byte) level};
        return png(width, height, bits, new byte[0], levels, value);
    }

    private static byte[] png(
            int width,
            int height,
            int bits,
            byte[] palette,
            byte[] transparency,
            IntBinaryOperator value) {
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        png.writeBytes(new byte[] {(byte) 0x89, 'P', 'N', 'G', 13, 10, 26, 10});
        ByteBuffer header = ByteBuffer.allocate(13).putInt(width).putInt(height);
        header.put((byte) bits).put((byte) (palette.length > 0 ? PALETTE : GRAY));
        chunk(png, "IHDR", header.array());
        if (palette.length > 0) {
            chunk(png, "PLTE", palette);
        }
        if (transparency.length > 0) {
            chunk(png, "tRNS", transparency);
        }
        chunk(png, "IDAT", rows(width, height, bits, value));
        chunk(png, "IEND", new byte[0]);
        return png.toByteArray();
    }

    private static byte[] rows(int width, int height, int bits, IntBinaryOperator value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DeflaterOutputStream rows = new DeflaterOutputStream(bytes)) {
            for (int y = 0; y < height; y++) {
                byte[] row = new byte[1 + (width * bits + 7) / 8];
                for (int x = 0; x < width; x++) {
                    int number = value.applyAsInt(x, y);
                    if (bits == 16) {
                        row[1 + 2 * x] = (byte) (number >> 8);
                        row[2 + 2 * x] = (byte) number;
                    } else {
                        int bit = x * bits;
                        row[1 + bit / 8] |= (byte) (number << (8 - bits - bit % 8));
                    }
                }
                rows.write(row);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void chunk(ByteArrayOutputStream png, String name, byte[] content) {
        byte[] named = new byte[4 + content.length];
        System.arraycopy(name.getBytes(StandardCharsets.US_ASCII), 0, named, 0, 4);
        System.arraycopy(content, 0, named, 4, content.length);
        CRC32 checksum = new CRC32();
        checksum.update(named);
        png.writeBytes(ByteBuffer.allocate(4).putInt(content.length).array());
        png.writeBytes(named);
        png.writeBytes(ByteBuffer.allocate(4).putInt((int) checksum.getValue()).array());
    }
}
