package dev.saccade.datasets.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.core.MatOfInt;
import org.opencv.core.Scalar;
import org.opencv.imgcodecs.Imgcodecs;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Images that are read in part, or completed, with a warning. */
class PartialImagesTest {

    private static final String NO_END = "has no end marker";

    @TempDir private Path folder;

    @BeforeAll
    static void load() {
        OpenCv.load();
    }

    @SuppressWarnings("ArrayRecordComponent")
    private record Read(byte[] pixels, List<String> warnings) {

        private void assertWarning(String text) {
            assertEquals(1, warnings.size(), warnings.toString());
            assertTrue(warnings.get(0).contains(text), warnings.get(0));
        }
    }

    private static Read read(byte[] file) {
        List<String> warnings = new ArrayList<>();
        Mat image = ImageSource.of("x", file).warnings(warnings::add).read();
        byte[] pixels = new byte[(int) image.total() * image.channels()];
        image.get(0, 0, pixels);
        image.release();
        return new Read(pixels, warnings);
    }

    private static String refusal(byte[] file) {
        SaccadeException thrown = assertThrows(SaccadeException.class, () -> read(file));
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        return thrown.getMessage();
    }

    private static byte[] jpeg(int type, int progressive, int restart) {
        Mat image = new Mat(45, 70, type);
        Core.setRNGSeed(3);
        Core.randu(image, 0, 256);
        MatOfByte jpeg = new MatOfByte();
        Imgcodecs.imencode(
                ".jpg",
                image,
                jpeg,
                new MatOfInt(
                        Imgcodecs.IMWRITE_JPEG_PROGRESSIVE, progressive,
                        Imgcodecs.IMWRITE_JPEG_RST_INTERVAL, restart));
        return jpeg.toArray();
    }

    /** In color and gray, whole and in scans, with and without restart markers. */
    @ParameterizedTest
    @CsvSource({"0, 0, 0", "0, 0, 1", "0, 1, 0", "0, 1, 2", "16, 0, 0", "16, 0, 3", "16, 1, 0"})
    void readsJpegsThatOnlyLackTheirEnd(int type, int progressive, int restart) {
        byte[] jpeg = jpeg(type, progressive, restart);
        Read whole = read(jpeg);
        assertEquals(List.of(), whole.warnings());
        byte[] noEnd = Arrays.copyOf(jpeg, jpeg.length - 2);
        byte[] halfEnd = Arrays.copyOf(jpeg, jpeg.length - 1);
        byte[] padded = Arrays.copyOf(noEnd, noEnd.length + 5000);
        for (byte[] file : List.of(noEnd, halfEnd, padded)) {
            Read read = read(file);
            assertArrayEquals(whole.pixels(), read.pixels());
            read.assertWarning(NO_END);
        }
    }

    /** Also where somebody has added an end marker. */
    @ParameterizedTest
    @CsvSource({"0, 0, 0", "0, 1, 0", "16, 0, 0", "16, 0, 3", "16, 1, 0"})
    void rejectsJpegsWithoutTheirLastBlocks(int type, int progressive, int restart) {
        byte[] jpeg = jpeg(type, progressive, restart);
        for (int missing : new int[] {6, 30, jpeg.length / 2}) {
            byte[] cut = Arrays.copyOf(jpeg, jpeg.length - missing);
            assertTrue(refusal(cut).contains("is truncated"), refusal(cut));
            byte[] ended = OddFiles.join(cut, new byte[] {-1, -39});
            String message = refusal(ended);
            assertTrue(message.contains("truncated") || message.contains("damaged"), message);
        }
    }

    @Test
    void rejectsProgressiveJpegsWithoutTheirLastScans() {
        byte[] jpeg = jpeg(CvType.CV_8UC3, 1, 0);
        int last = jpeg.length - 2;
        while (jpeg[last] != -1 || jpeg[last + 1] != (byte) 0xDA) {
            last--;
        }
        byte[] cut = Arrays.copyOf(jpeg, last);
        assertTrue(refusal(cut).contains("is truncated"), refusal(cut));
        read(OddFiles.join(cut, new byte[] {-1, -39})).assertWarning("lacks the last scans");
    }

    @Test
    void readsCmykWithoutAnEnd() {
        byte[] jpeg = ImageFiles.cmykJpeg(16, 16, 255);
        Read read = read(Arrays.copyOf(jpeg, jpeg.length - 2));
        assertEquals(-1, read.pixels()[0]);
        assertEquals(2, read.warnings().size(), read.warnings().toString());
    }

    /** Bytes between the last block and the end are often what is left of damaged blocks. */
    @Test
    void reportsExtraneousBytes() {
        byte[] jpeg = jpeg(CvType.CV_8UC3, 0, 0);
        byte[] spare = "left over from a damaged block".getBytes(US_ASCII);
        Read read = read(OddFiles.insert(jpeg, jpeg.length - 2, spare));
        assertArrayEquals(read(jpeg).pixels(), read.pixels());
        read.assertWarning("extraneous bytes");
    }

    /** Before a restart marker, and before a later scan. */
    @ParameterizedTest
    @CsvSource({"0, 2, 0xD0", "1, 0, 0xDA"})
    void readsJpegsWithBytesBetweenTheirBlocks(int progressive, int restart, String marker) {
        byte[] jpeg = jpeg(CvType.CV_8UC3, progressive, restart);
        int last = jpeg.length - 2;
        while (jpeg[last] != -1 || Byte.toUnsignedInt(jpeg[last + 1]) != Integer.decode(marker)) {
            last--;
        }
        Read read = read(OddFiles.insert(jpeg, last, "left over".getBytes(US_ASCII)));
        assertArrayEquals(read(jpeg).pixels(), read.pixels());
        read.assertWarning("extraneous bytes");
    }

    @ParameterizedTest
    @CsvSource({"animated.webp, 24", "animated_alpha.webp, 0"})
    void readsTheFirstFrameOfAnimatedWebp(String name, int tolerance) throws IOException {
        byte[] webp = getClass().getResourceAsStream("/images/" + name).readAllBytes();
        Read read = read(webp);
        assertEquals(24 * 40 * 3, read.pixels().length);
        int middle = 12 * 40;
        assertColor(read.pixels(), middle + 10, tolerance, 30, 30, 220);
        assertColor(read.pixels(), middle + 30, tolerance, 220, 30, 30);
        read.assertWarning("is animated");
    }

    private static void assertColor(byte[] pixels, int pixel, int tolerance, int... bgr) {
        for (int i = 0; i < 3; i++) {
            assertEquals(bgr[i], Byte.toUnsignedInt(pixels[3 * pixel + i]), tolerance);
        }
    }

    /** A first frame may cover a part of the canvas, which is black elsewhere. */
    @Test
    void putsTheFirstFrameInItsPlace() {
        MatOfByte still = new MatOfByte();
        Mat white = new Mat(4, 6, CvType.CV_8UC3, new Scalar(255, 255, 255));
        Imgcodecs.imencode(
                ".webp", white, still, new MatOfInt(Imgcodecs.IMWRITE_WEBP_QUALITY, 101));
        byte[] webp = still.toArray();
        byte[] frame = Arrays.copyOfRange(webp, 12, webp.length);
        byte[] place = {2, 0, 0, 1, 0, 0, 5, 0, 0, 3, 0, 0, 100, 0, 0, 0};
        Read read = read(animated(20, 10, OddFiles.join(place, frame)));
        for (int y = 0; y < 10; y++) {
            for (int x = 0; x < 20; x++) {
                int level = x >= 4 && x < 10 && y >= 2 && y < 6 ? 255 : 0;
                assertColor(read.pixels(), 20 * y + x, 0, level, level, level);
            }
        }
        place[0] = 8;
        String outside = refusal(animated(20, 10, OddFiles.join(place, frame)));
        assertTrue(outside.contains("exceeds its canvas"), outside);
    }

    private static byte[] animated(int width, int height, byte[] frame) {
        ByteBuffer extended = ByteBuffer.allocate(10).order(ByteOrder.LITTLE_ENDIAN);
        extended.putInt(2).putInt(width - 1).putShort(7, (short) (height - 1));
        return OddFiles.riff(
                "RIFF",
                OddFiles.join(
                        "WEBP".getBytes(US_ASCII),
                        OddFiles.riff("VP8X", extended.array()),
                        OddFiles.riff("ANIM", new byte[6]),
                        OddFiles.riff("ANMF", frame)));
    }

    @Test
    void reportsTheOrientationOfWebp() {
        MatOfByte still = new MatOfByte();
        Imgcodecs.imencode(".webp", new Mat(4, 6, CvType.CV_8UC3, new Scalar(9, 9, 9)), still);
        byte[] webp = OddFiles.webp(still.toArray(), 6, 4, OddFiles.exif(6));
        read(webp).assertWarning("orientation 6");
    }

    @Test
    void reportsAnimatedPng() {
        byte[] png = ImageFiles.png(9, 8, BufferedImage.TYPE_3BYTE_BGR);
        read(OddFiles.png(png, OddFiles.chunk("acTL", new byte[8]))).assertWarning("is animated");
    }

    @Test
    void reportsFurtherPagesOfTiff() {
        Path file = folder.resolve("pages.tif");
        Mat page = new Mat(4, 6, CvType.CV_8UC3, new Scalar(9, 9, 9));
        Imgcodecs.imwritemulti(file.toString(), List.of(page, page));
        List<String> warnings = ImageHeader.read(file).warnings();
        assertEquals(1, warnings.size(), warnings.toString());
        assertTrue(warnings.get(0).contains("several pages"), warnings.get(0));
    }

    @ParameterizedTest
    @CsvSource({"4095, 2", "4096, 1", "65535, 1"})
    void reportsSixteenBitsThatBecomeNearlyBlack(int most, int count) {
        Mat image = new Mat(4, 6, CvType.CV_16UC1, new Scalar(most));
        for (String kind : List.of(".png", ".tif")) {
            MatOfByte file = new MatOfByte();
            Imgcodecs.imencode(kind, image, file);
            List<String> warnings = read(file.toArray()).warnings();
            assertEquals(count, warnings.size(), warnings.toString());
            assertTrue(warnings.get(0).contains("more than 8 bits"), warnings.get(0));
            assertEquals(count == 2, warnings.toString().contains("nearly black"));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "....ftypheic | HEIC image | convert",
                "....ftypmsf1 | HEIC image | convert",
                "....ftypavis | (AVIF) image | convert",
                "....ftypisom | it is a video | frames",
                "\u00FFO\u00FFQ | JPEG 2000 | convert",
                "version https://git-lfs.github.com/spec/v1 | git-lfs | git lfs pull",
                "<!DOCTYPE html> | web page | the image itself",
                "{\"error\": \"not found\"} | JSON | the image itself",
                "%PDF-1.7 | PDF | convert",
                "GIF89a | GIF image | convert",
                "/9j/4AAQSkZJRgABAQAAAQABAAD | Base64 | decode"
            })
    void namesFilesThatAreNotRead(String start, String name, String advice) {
        String message = refusal((start + "................").getBytes(ISO_8859_1));
        assertTrue(message.contains(name) && message.contains(advice), message);
    }

    /** Whatever is wrong with a file is in the exception, never printed by a decoder. */
    @Test
    void decodersPrintNothing() throws Exception {
        byte[] jpeg = jpeg(CvType.CV_8UC3, 0, 2);
        byte[] png = ImageFiles.png(40, 30, BufferedImage.TYPE_3BYTE_BGR);
        byte[] bmp = ImageFiles.encode(ImageFiles.picture(40, 30, 5), "bmp");
        byte[] flipped = jpeg.clone();
        Arrays.fill(flipped, jpeg.length / 2, jpeg.length / 2 + 40, (byte) 0x5A);
        byte[] revision = jpeg.clone();
        revision[11] = 5;
        byte[] header = png.clone();
        header[24] = 3;
        byte[] content = png.clone();
        content[png.length / 2] ^= 0x55;
        byte[] compression = bmp.clone();
        compression[30] = 9;
        List<byte[]> files =
                List.of(
                        flipped,
                        revision,
                        OddFiles.join(Arrays.copyOf(jpeg, jpeg.length / 2), new byte[] {-1, -39}),
                        OddFiles.insert(jpeg, jpeg.length - 2, new byte[40]),
                        header,
                        content,
                        OddFiles.png(png, OddFiles.chunk("ABCD", new byte[1])),
                        OddFiles.png(png, OddFiles.chunk("tRNS", new byte[3])),
                        OddFiles.png(png, OddFiles.chunk("PLTE", new byte[4])),
                        compression,
                        Arrays.copyOf(bmp, bmp.length / 2),
                        getClass().getResourceAsStream("/images/animated.webp").readAllBytes());
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                Reader.class.getName()));
        for (int i = 0; i < files.size(); i++) {
            Path file = folder.resolve("image" + i);
            Files.write(file, files.get(i));
            command.add(file.toString());
        }
        Path printed = folder.resolve("printed");
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(printed.toFile())
                        .start();
        assertEquals(0, process.waitFor());
        String text = Files.readString(printed);
        assertTrue(text.endsWith(files.size() + " files\n"), text);
        assertFalse(text.matches("(?is).*(opencv|libpng|jpeg|jfif|tiff).*"), text);
    }

    /** Reads images in a process of its own. */
    static final class Reader {

        private Reader() {}

        public static void main(String[] files) {
            int read = 0;
            int refused = 0;
            for (String file : files) {
                try {
                    ImageSource.of(Path.of(file)).read().release();
                    read++;
                } catch (SaccadeException e) {
                    refused++;
                }
            }
            System.out.print(read + refused + " files\n");
        }
    }
}
