package dev.saccade.datasets.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.core.Range;
import org.opencv.imgcodecs.Imgcodecs;

import java.awt.image.BufferedImage;
import java.awt.image.WritableRaster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;

import javax.imageio.ImageIO;

/** Pixels from wherever a program has them. */
class ImageSourceTest {

    private static final int WIDTH = 37;
    private static final int HEIGHT = 23;

    @BeforeAll
    static void loadOpenCv() {
        OpenCv.load();
    }

    private static byte[] pixels(ImageSource source) {
        Mat image = source.read();
        try {
            assertEquals(CvType.CV_8UC3, image.type());
            byte[] pixels = new byte[3 * (int) image.total()];
            image.get(0, 0, pixels);
            return pixels;
        } finally {
            image.release();
        }
    }

    /** Returns an image of noise, of any type that OpenCV writes as PNG. */
    private static Mat noise(int type) {
        Mat image = new Mat(HEIGHT, WIDTH, type);
        int values = WIDTH * HEIGHT * CvType.channels(type);
        if (CvType.depth(type) == CvType.CV_16U) {
            short[] noise = new short[values];
            for (int i = 0; i < values; i++) {
                noise[i] = (short) (i * 40503);
            }
            image.put(0, 0, noise);
        } else {
            byte[] noise = new byte[values];
            for (int i = 0; i < values; i++) {
                noise[i] = (byte) ((i * 40503) >> 7);
            }
            image.put(0, 0, noise);
        }
        return image;
    }

    private static byte[] png(Mat image) {
        MatOfByte encoded = new MatOfByte();
        Imgcodecs.imencode(".png", image, encoded);
        return encoded.toArray();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 16, 24, 2, 18, 26})
    void javaAndOpenCvSeeTheSamePixels(int type) throws IOException {
        Mat image = noise(type);
        byte[] file = png(image);
        BufferedImage decoded = ImageIO.read(new ByteArrayInputStream(file));
        assertArrayEquals(pixels(ImageSource.of(file)), pixels(ImageSource.of(decoded)));
        image.release();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                BufferedImage.TYPE_INT_RGB,
                BufferedImage.TYPE_INT_ARGB,
                BufferedImage.TYPE_INT_BGR,
                BufferedImage.TYPE_3BYTE_BGR,
                BufferedImage.TYPE_4BYTE_ABGR,
                BufferedImage.TYPE_INT_ARGB_PRE,
                BufferedImage.TYPE_4BYTE_ABGR_PRE
            })
    void theTypeOfAnImageDoesNotMatter(int type) {
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, type);
        byte[] expected = new byte[3 * WIDTH * HEIGHT];
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            int rgb = i * 0x01030B + 7;
            image.setRGB(i % WIDTH, i / WIDTH, 0xFF000000 | rgb);
            expected[3 * i] = (byte) rgb;
            expected[3 * i + 1] = (byte) (rgb >> 8);
            expected[3 * i + 2] = (byte) (rgb >> 16);
        }
        assertArrayEquals(expected, pixels(ImageSource.of(image)));
    }

    @Test
    void aPartOfAnImageIsThatPart() {
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_3BYTE_BGR);
        BufferedImage part = image.getSubimage(5, 7, 11, 13);
        WritableRaster raster = part.getRaster();
        raster.setPixel(2, 3, new int[] {1, 2, 3});
        byte[] pixels = pixels(ImageSource.of(part));
        assertEquals(3 * 11 * 13, pixels.length);
        int at = 3 * (3 * 11 + 2);
        assertArrayEquals(
                new byte[] {3, 2, 1}, new byte[] {pixels[at], pixels[at + 1], pixels[at + 2]});
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 16, 24})
    void usesPixelsOfOpenCvUnchanged(int type) {
        Mat image = noise(type);
        assertArrayEquals(pixels(ImageSource.of(png(image))), pixels(ImageSource.of(image)));
        Mat part = new Mat(image, new Range(2, 9), new Range(4, 30));
        assertArrayEquals(pixels(ImageSource.of(png(part))), pixels(ImageSource.of(part)));
        assertEquals(WIDTH, image.cols(), "the image is still its owner's");
        image.release();
    }

    @Test
    void rejectsUnusableSources() {
        assertRefused(ImageSource.of(new Mat()), "has no pixels");
        assertRefused(ImageSource.of(new Mat(3, 4, CvType.CV_32FC3)), "Mat of 3x4: is CV_32FC3");
        assertRefused(ImageSource.of(new byte[0]), "is empty (0 bytes)");
        assertRefused(ImageSource.of("upload", new byte[] {1, 2}), "upload: is not an image");
        assertRefused(ImageSource.of(Path.of("nowhere.jpg")), "nowhere.jpg: no such file");
    }

    private static void assertRefused(ImageSource source, String expected) {
        SaccadeException thrown = assertThrows(SaccadeException.class, source::read);
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertTrue(thrown.getMessage().contains(expected), thrown.getMessage());
    }
}
