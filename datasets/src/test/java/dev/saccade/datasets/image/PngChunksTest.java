package dev.saccade.datasets.image;

import static dev.saccade.datasets.image.OddFiles.chunk;
import static dev.saccade.datasets.image.OddFiles.join;
import static dev.saccade.datasets.image.OddFiles.png;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.saccade.datasets.ade20k.LabelFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.imgcodecs.Imgcodecs;

import java.awt.image.BufferedImage;
import java.nio.ByteBuffer;

/** What of a PNG reaches the decoder. */
class PngChunksTest {

    /** Sets the title of a terminal. */
    private static final byte[] STEERS = "\33]0;title\7\0\0rest".getBytes(ISO_8859_1);

    @ParameterizedTest
    @ValueSource(strings = {"iCCP", "tEXt", "zTXt", "iTXt", "sPLT", "pCAL", "sCAL", "eXIf", "exTr"})
    void keepsTextsFromTheDecoder(String kind) {
        byte[] plain = ImageFiles.png(40, 24, BufferedImage.TYPE_3BYTE_BGR);
        assertArrayEquals(plain, decoded(png(plain, chunk(kind, STEERS))));
    }

    @Test
    void copiesNothingIfAllIsNeeded() {
        byte[] plain = ImageFiles.png(40, 24, BufferedImage.TYPE_3BYTE_BGR);
        assertSame(plain, decoded(plain));
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                BufferedImage.TYPE_3BYTE_BGR,
                BufferedImage.TYPE_4BYTE_ABGR,
                BufferedImage.TYPE_BYTE_GRAY,
                BufferedImage.TYPE_USHORT_GRAY,
                BufferedImage.TYPE_BYTE_INDEXED
            })
    void readsTheSameColorsWithoutWhatTellsOfThem(int type) {
        byte[] plain = ImageFiles.png(40, 24, type);
        byte[] colors = new byte[32];
        ByteBuffer.wrap(colors)
                .asIntBuffer()
                .put(new int[] {31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000});
        boolean colored = plain[25] != 0;
        byte[][] chunks = {
            chunk("gAMA", new byte[] {0, 0, 40, 40}),
            chunk("cHRM", colors),
            chunk("sRGB", new byte[1]),
            chunk("sBIT", plain[25] == 6 ? new byte[] {5, 6, 5, 8} : new byte[] {5, 6, 5}),
            chunk("pHYs", new byte[] {0, 0, 1, 0, 0, 0, 2, 0, 1}),
            chunk("bKGD", new byte[colored ? 6 : 2])
        };
        for (byte[] chunk : chunks) {
            assertReadsLikeOpenCv(png(plain, chunk));
        }
        assertReadsLikeOpenCv(png(plain, join(chunks)));
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 8, 16})
    void readsTransparencyLikeOpenCv(int bits) {
        byte[] odd = LabelFiles.transparent(37, 11, bits, 3, (x, y) -> (x + y) & 15);
        assertReadsLikeOpenCv(odd);
    }

    private static byte[] decoded(byte[] png) {
        return PngChunks.pixelsOnly(png);
    }

    private static void assertReadsLikeOpenCv(byte[] png) {
        OpenCv.load();
        Mat expected = Imgcodecs.imdecode(new MatOfByte(png), Imgcodecs.IMREAD_COLOR);
        assertArrayEquals(pixels(expected), pixels(ImageSource.of("x", png).read()));
    }

    private static byte[] pixels(Mat image) {
        byte[] pixels = new byte[(int) image.total() * image.channels()];
        image.get(0, 0, pixels);
        image.release();
        return pixels;
    }
}
