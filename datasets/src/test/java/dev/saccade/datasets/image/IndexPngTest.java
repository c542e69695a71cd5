package dev.saccade.datasets.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ade20k.LabelFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntBinaryOperator;

import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;

class IndexPngTest {

    private static final int WIDTH = 37;
    private static final int HEIGHT = 11;

    @TempDir Path folder;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8, 16})
    void readsStoredGrayLevels(int bits) throws IOException {
        IntBinaryOperator value = value(bits);
        assertValues(LabelFiles.gray(WIDTH, HEIGHT, bits, value), value);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8})
    void readsIndicesOfAPaletteNotColors(int bits) throws IOException {
        IntBinaryOperator value = value(bits);
        assertValues(LabelFiles.palette(WIDTH, HEIGHT, bits, value), value);
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 8, 16})
    void ignoresTransparency(int bits) throws IOException {
        IntBinaryOperator value = value(bits);
        assertValues(LabelFiles.transparent(WIDTH, HEIGHT, bits, 3, value), value);
    }

    @Test
    void readsInterlacedFiles() throws IOException {
        IntBinaryOperator value = value(8);
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_BYTE_GRAY);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                image.getRaster().setSample(x, y, 0, value.applyAsInt(x, y));
            }
        }
        ImageWriter writer = ImageIO.getImageWritersByFormatName("png").next();
        ImageWriteParam interlaced = writer.getDefaultWriteParam();
        interlaced.setProgressiveMode(ImageWriteParam.MODE_DEFAULT);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ImageOutputStream stream = ImageIO.createImageOutputStream(bytes)) {
            writer.setOutput(stream);
            writer.write(null, new IIOImage(image, null, null), interlaced);
        }
        writer.dispose();
        assertEquals(1, bytes.toByteArray()[28]);
        assertValues(bytes.toByteArray(), value);
    }

    @Test
    void rejectsColors() {
        assertRefused(
                ImageFiles.png(WIDTH, HEIGHT, BufferedImage.TYPE_3BYTE_BGR),
                "PNG is RGB; expected a gray image or a palette image with one class index per"
                        + " pixel; replace colors with class indices");
        assertRefused(
                ImageFiles.png(WIDTH, HEIGHT, BufferedImage.TYPE_4BYTE_ABGR),
                "PNG is RGB with alpha");
    }

    @Test
    void rejectsOtherFormats() {
        assertRefused(ImageFiles.jpeg(WIDTH, HEIGHT), "is a JPEG; expected a PNG");
        assertRefused(new byte[0], "is empty");
        assertRefused(
                "<html>".getBytes(java.nio.charset.StandardCharsets.UTF_8), "is not an image");
        assertRefused(ImageFiles.pngThatClaims(100_000, 100_000), "limit of 178 million");
    }

    @Test
    void detectsAnyDamage() {
        byte[] sound = LabelFiles.gray(WIDTH, HEIGHT, 8, value(8));
        assertRefused(Arrays.copyOf(sound, sound.length - 20), "truncated");
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 200; i++) {
            byte[] damaged = sound.clone();
            damaged[random.nextInt(29, sound.length)] ^= (byte) (1 << random.nextInt(8));
            assertRefused(damaged, "");
        }
    }

    private static IntBinaryOperator value(int bits) {
        return (x, y) -> (x * 7 + y * 31) * (bits == 16 ? 61 : 1) & ((1 << bits) - 1);
    }

    private void assertValues(byte[] bytes, IntBinaryOperator value) throws IOException {
        IndexPng png = IndexPng.read(Files.write(folder.resolve("a.png"), bytes));
        assertEquals(new Size(HEIGHT, WIDTH), png.size());
        short[] expected = new short[WIDTH * HEIGHT];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = (short) value.applyAsInt(i % WIDTH, i / WIDTH);
        }
        assertArrayEquals(expected, png.values());
    }

    private void assertRefused(byte[] bytes, String reason) {
        Path file = folder.resolve("a.png");
        SaccadeException thrown =
                assertThrows(SaccadeException.class, () -> IndexPng.read(Files.write(file, bytes)));
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertTrue(thrown.getMessage().startsWith(file + ": "), thrown.getMessage());
        assertTrue(thrown.getMessage().contains(reason), thrown.getMessage());
    }
}
