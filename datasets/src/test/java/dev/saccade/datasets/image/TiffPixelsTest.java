package dev.saccade.datasets.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opencv.core.Mat;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;

/** A damaged TIFF is rejected and does not become a black image. */
class TiffPixelsTest {

    private static final int WIDTH = 150;
    private static final int HEIGHT = 100;

    /** Returns an image of noise in large and small steps, in strips of 8 rows. */
    private static byte[] tiff(String compression) throws IOException {
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_3BYTE_BGR);
        Random random = new Random(0);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                image.setRGB(x, y, x < 50 ? 0xFF0000 : random.nextInt(x < 100 ? 4 : 1 << 24));
            }
        }
        ImageWriter writer = ImageIO.getImageWritersByFormatName("tiff").next();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ImageOutputStream out = ImageIO.createImageOutputStream(bytes)) {
            ImageWriteParam parameters = writer.getDefaultWriteParam();
            parameters.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
            parameters.setCompressionType(compression);
            writer.setOutput(out);
            writer.write(null, new IIOImage(image, null, null), parameters);
        } finally {
            writer.dispose();
        }
        return bytes.toByteArray();
    }

    private static void assertRefused(byte[] tiff) {
        String told =
                assertThrows(SaccadeException.class, () -> ImageSource.of("a.tif", tiff).read())
                        .getMessage();
        assertTrue(told.startsWith("a.tif: TIFF is damaged and cannot be decoded: strip "), told);
        assertTrue(told.endsWith(" is incomplete"), told);
    }

    @ParameterizedTest
    @ValueSource(strings = {"LZW", "ZLib", "Deflate", "PackBits"})
    void namesTheDamagedStrip(String compression) throws IOException {
        byte[] sound = tiff(compression);
        Mat image = ImageSource.of("a.tif", sound).read();
        assertEquals(HEIGHT, image.rows());
        image.release();
        TiffDirectory directory = new TiffDirectory(ByteBuffer.wrap(sound));
        int start = Math.toIntExact(directory.values(0x111).orElseThrow().at(3));
        int length = Math.toIntExact(directory.values(0x117).orElseThrow().at(3));
        byte[] ones = sound.clone();
        Arrays.fill(ones, start + 2, start + length, (byte) 0xFF);
        assertRefused(ones);
        byte[] zeros = sound.clone();
        Arrays.fill(zeros, start + 2, start + length, (byte) 0);
        assertRefused(zeros);
    }
}
