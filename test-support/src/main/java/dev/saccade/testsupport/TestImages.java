package dev.saccade.testsupport;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

import javax.imageio.ImageIO;

/** Synthetic images with many edges. */
public final class TestImages {

    private TestImages() {}

    /** Returns an image of colored cells; the seed selects a pattern. */
    public static BufferedImage pattern(int width, int height, int seed) {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                image.setRGB(x, y, (x / 7 * 0x1A0B05 + y / 5 * 0x091F2C) ^ ((x * y) >> seed));
            }
        }
        return image;
    }

    /** Encodes a pattern as {@code png}, {@code jpg}, {@code gif} or {@code bmp}. */
    public static byte[] encode(String format, int width, int height, int seed) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            if (!ImageIO.write(pattern(width, height, seed), format, bytes)) {
                throw new IllegalArgumentException("no writer for " + format);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    public static Path write(Path file, int width, int height, int seed) {
        try {
            return Files.write(file, encode("png", width, height, seed));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
