package dev.saccade.datasets.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.core.MatOfInt;
import org.opencv.core.Scalar;
import org.opencv.imgcodecs.Imgcodecs;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** JPEGs whose end is there, but not their pixels. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class JpegScansTest {

    private static final int START_OF_SCAN = 0xDA;
    private static final int END = 2;

    @BeforeAll
    static void load() {
        OpenCv.load();
    }

    @ParameterizedTest
    @CsvSource({"13000,13000,21", "5000,7000,100", "16,16,100"})
    void boundsTheScansByTheSize(int height, int width, int most) {
        assertEquals("", ImageHeader.read("x", withScans(height, width, most)).fault());
        assertRefused(
                withScans(height, width, most + 1),
                Text.format(
                        "x: JPEG has %d scans, expected at most %d for its size; save it again",
                        most + 1, most));
    }

    /** Returns a progressive JPEG of empty scans. */
    private static byte[] withScans(int height, int width, int scans) {
        byte[] jpeg = encode(noise(16, 16), 75, 1, 0);
        ByteBuffer frame = ByteBuffer.wrap(jpeg);
        frame.putShort(OddFiles.find(jpeg, 0xC2) + 5, (short) height);
        frame.putShort(OddFiles.find(jpeg, 0xC2) + 7, (short) width);
        int scan = OddFiles.find(jpeg, START_OF_SCAN);
        byte[] start = Arrays.copyOf(jpeg, scan);
        byte[] empty = OddFiles.segment(START_OF_SCAN, new byte[] {3, 1, 0, 2, 0, 3, 0, 0, 0, 0});
        byte[][] all = new byte[scans][];
        Arrays.fill(all, empty);
        return OddFiles.join(start, OddFiles.join(all), new byte[] {-1, -39});
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.25, 0.5, 0.9})
    void rejectsZerosInsteadOfPixels(double from) {
        byte[] jpeg = encode(noise(256, 256), 90, 0, 0);
        int start = (int) (from * jpeg.length);
        Arrays.fill(jpeg, start, jpeg.length - END, (byte) 0);
        assertRefused(
                jpeg,
                Text.format(
                        "x: JPEG is damaged: %d bytes of its pixels are zero; copy or download it"
                                + " again",
                        jpeg.length - END - start));
    }

    @Test
    void rejectsLessThanTwoBitsPerBlock() {
        byte[] jpeg = encode(noise(16, 16), 75, 0, 0);
        ByteBuffer.wrap(jpeg).putShort(OddFiles.find(jpeg, 0xC0) + 5, (short) 13_000);
        ByteBuffer.wrap(jpeg).putShort(OddFiles.find(jpeg, 0xC0) + 7, (short) 13_000);
        int bytes = jpeg.length - END - OddFiles.find(jpeg, START_OF_SCAN) - 14;
        int blocks = 1625 * 1625;
        assertRefused(
                jpeg,
                Text.format(
                                "x: JPEG is damaged: its pixels have %d bytes, expected at least %d;",
                                bytes, (blocks + 3) / 4)
                        + " copy or download it again");
    }

    /** The JDK's decoder ends at a second start of an image; libjpeg fills in the other blocks. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void rejectsASecondStartInThePixels(int progressive) {
        byte[] jpeg = encode(noise(256, 256), 90, progressive, 0);
        int middle = jpeg.length / 2;
        byte[] end = Arrays.copyOfRange(jpeg, middle, jpeg.length);
        assertRefused(
                OddFiles.join(Arrays.copyOf(jpeg, middle), new byte[] {-1, -40}, end),
                "x: JPEG is damaged, some of its blocks cannot be decoded; copy or download it"
                        + " again");
    }

    /** Optimal codes of one color are zeros from end to end, two bits a block. */
    @ParameterizedTest
    @CsvSource({"0,0", "0,1", "1,0", "1,1"})
    void readsImagesOfOneColor(int progressive, int optimal) {
        for (int level : new int[] {0, 128, 255}) {
            for (int quality : new int[] {1, 50, 100}) {
                Mat gray = new Mat(1000, 1000, CvType.CV_8UC1, new Scalar(level));
                assertReadsLikeOpenCv(encode(gray, quality, progressive, optimal));
                Mat color = new Mat(1000, 1000, CvType.CV_8UC3, new Scalar(level, 40, 200));
                assertReadsLikeOpenCv(encode(color, quality, progressive, optimal));
            }
        }
    }

    private static void assertReadsLikeOpenCv(byte[] jpeg) {
        Mat expected = Imgcodecs.imdecode(new MatOfByte(jpeg), Imgcodecs.IMREAD_COLOR);
        assertArrayEquals(pixels(expected), pixels(ImageSource.of("x", jpeg).read()));
    }

    private static byte[] pixels(Mat image) {
        byte[] pixels = new byte[(int) image.total() * image.channels()];
        image.get(0, 0, pixels);
        image.release();
        return pixels;
    }

    private static Mat noise(int height, int width) {
        Mat image = new Mat(height, width, CvType.CV_8UC3);
        Core.setRNGSeed(1);
        Core.randu(image, 0, 256);
        return image;
    }

    private static byte[] encode(Mat image, int quality, int progressive, int optimal) {
        MatOfByte jpeg = new MatOfByte();
        Imgcodecs.imencode(
                ".jpg",
                image,
                jpeg,
                new MatOfInt(
                        Imgcodecs.IMWRITE_JPEG_QUALITY, quality,
                        Imgcodecs.IMWRITE_JPEG_PROGRESSIVE, progressive,
                        Imgcodecs.IMWRITE_JPEG_OPTIMIZE, optimal));
        return jpeg.toArray();
    }

    private static void assertRefused(byte[] jpeg, String message) {
        SaccadeException thrown =
                assertThrows(SaccadeException.class, () -> ImageSource.of("x", jpeg).read());
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertEquals(message, thrown.getMessage());
    }
}
