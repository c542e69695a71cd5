package dev.saccade.datasets.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

class ImageReaderTest {

    private static final String TILES = "its tiles are far larger than the image of";

    @TempDir Path folder;

    @ParameterizedTest
    @ValueSource(
            ints = {
                BufferedImage.TYPE_3BYTE_BGR,
                BufferedImage.TYPE_4BYTE_ABGR,
                BufferedImage.TYPE_BYTE_INDEXED
            })
    void readsColorsPalettesAndAlphaAsBgrBytes(int type) throws IOException {
        Mat image = read(ImageFiles.png(30, 20, type));
        assertEquals(CvType.CV_8UC3, image.type());
        assertEquals(30, image.cols());
        assertEquals(20, image.rows());
        assertArrayEquals(new double[] {0, 0, 255}, image.get(10, 2));
        assertArrayEquals(new double[] {255, 0, 0}, image.get(10, 27));
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                BufferedImage.TYPE_USHORT_GRAY,
                BufferedImage.TYPE_BYTE_GRAY,
                BufferedImage.TYPE_BYTE_BINARY
            })
    void replicatesGrayOfAnyDepth(int type) throws IOException {
        BufferedImage gray = new BufferedImage(16, 16, type);
        int white = type == BufferedImage.TYPE_USHORT_GRAY ? 0xFFFF : 0xFF;
        gray.getRaster().setSample(3, 4, 0, white);
        Mat image = read(ImageFiles.encode(gray, "png"));
        assertEquals(CvType.CV_8UC3, image.type());
        assertArrayEquals(new double[] {255, 255, 255}, image.get(4, 3));
        assertArrayEquals(new double[] {0, 0, 0}, image.get(4, 4));
    }

    @Test
    void detectsTheFormatFromTheContent() throws IOException {
        Path file = write("picture.jpg", ImageFiles.png(9, 8, BufferedImage.TYPE_3BYTE_BGR));
        assertEquals(9, ImageReader.read(file).cols());
    }

    @Test
    void convertsCmyk() throws IOException {
        // Adobe stores inks inverted: 255 is no ink at all.
        Mat white = read(ImageFiles.cmykJpeg(16, 16, 255));
        assertEquals(CvType.CV_8UC3, white.type());
        assertArrayEquals(new double[] {255, 255, 255}, white.get(8, 8));
    }

    @ParameterizedTest
    @CsvSource({"1,false", "2,false", "3,false", "4,false", "5,true", "6,true", "7,true", "8,true"})
    void rotatesImagesUpright(int orientation, boolean turned) {
        byte[] bytes = ImageFiles.withOrientation(ImageFiles.jpeg(40, 24), orientation);
        ImageHeader header = ImageHeader.read("x", bytes);
        Mat image = ImageReader.decode("x", header, bytes, warning -> {});
        assertEquals(orientation, header.orientation());
        assertEquals(turned, header.isTransposed());
        assertEquals(new Size(24, 40), header.storedSize());
        assertEquals(header.size(), new Size(image.rows(), image.cols()));
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 20, 100, 300, 600})
    void rejectsTruncatedFiles(int length) {
        byte[] jpeg = ImageFiles.jpeg(64, 64);
        byte[] png = ImageFiles.png(640, 64, BufferedImage.TYPE_BYTE_INDEXED);
        assertTrue(png.length > length && jpeg.length > length, png.length + " " + jpeg.length);
        assertRefused(Arrays.copyOf(jpeg, length), "");
        assertRefused(Arrays.copyOf(png, length), "");
    }

    @Test
    void detectsAMissingEndOfAJpeg() {
        byte[] jpeg = ImageFiles.jpeg(64, 64);
        assertRefused(Arrays.copyOf(jpeg, jpeg.length - 8), "JPEG is truncated");
    }

    @Test
    void allowsBytesAfterTheEnd() throws IOException {
        byte[] jpeg = ImageFiles.jpeg(64, 64);
        assertEquals(64, read(Arrays.copyOf(jpeg, jpeg.length + 7)).cols());
    }

    @Test
    void rejectsOtherFiles() {
        assertRefused(new byte[0], "is empty (0 bytes)");
        assertRefused(
                "<!DOCTYPE html><html>404".getBytes(US_ASCII),
                "is not an image, it starts with \"<!DOCTYPE html><\"");
        assertRefused(
                ImageFiles.encode(ImageFiles.picture(9, 9, BufferedImage.TYPE_BYTE_INDEXED), "gif"),
                "is a GIF image");
        assertRefused("\0\0\0\30ftypheic\0\0\0\0".getBytes(US_ASCII), "is a HEIC image; expected");
        assertRefused("\0\0\0\40ftypavif\0\0\0\0".getBytes(US_ASCII), "is a HEIF (AVIF) image");
    }

    @ParameterizedTest
    @CsvSource({"5,8", "7,16", "1,32", "3,64"})
    void rejectsUnsupportedTiffs(int channels, int bits) {
        byte[] tiff =
                OddFiles.tiff(
                        ByteOrder.BIG_ENDIAN,
                        new byte[64 * channels * bits / 8],
                        OddFiles.entry(ByteOrder.BIG_ENDIAN, 0x100, OddFiles.SHORT, 1, 8),
                        OddFiles.entry(ByteOrder.BIG_ENDIAN, 0x101, OddFiles.SHORT, 1, 8),
                        OddFiles.entry(ByteOrder.BIG_ENDIAN, 0x102, OddFiles.SHORT, 1, bits),
                        OddFiles.entry(ByteOrder.BIG_ENDIAN, 0x115, OddFiles.SHORT, 1, channels));
        assertRefused(tiff, Text.format("TIFF of %d x %d bits per pixel", channels, bits));
        assertRefused(tiff, "save the relevant channels as 8-bit RGB");
    }

    @Test
    void rejectsTilesFarLargerThanTheImage() {
        assertRefused(tiff(8, shorts(0x142, 16_000), shorts(0x143, 16_000)), TILES);
        assertRefused(tiff(4000, shorts(0x142, 1), shorts(0x143, 20_000)), TILES);
        assertRefused(tiff(8, longs(0x142, 0x7FFFFFF0), longs(0x143, 0x7FFFFFF0)), TILES);
    }

    /** Each of them would be copied before a row of it is decoded. */
    @Test
    void rejectsOverlappingStrips() {
        byte[] lengths = OddFiles.entryTo(ByteOrder.BIG_ENDIAN, 0x117, OddFiles.SHORT, 20, 8);
        assertRefused(tiff(20, lengths), "its strips or tiles are longer than the file");
        byte[] length = longs(0x145, 1 << 20);
        assertRefused(tiff(20, length), "its strips or tiles are longer than the file");
    }

    private static byte[] tiff(int side, byte[]... entries) {
        byte[] size = OddFiles.join(shorts(0x100, side), shorts(0x101, side));
        byte[][] all = Stream.concat(Stream.of(size), Stream.of(entries)).toArray(byte[][]::new);
        byte[] tiff = OddFiles.tiff(ByteOrder.BIG_ENDIAN, new byte[64], all);
        ByteBuffer.wrap(tiff).putShort(8, (short) (2 + entries.length));
        return tiff;
    }

    private static byte[] shorts(int tag, int value) {
        return OddFiles.entry(ByteOrder.BIG_ENDIAN, tag, OddFiles.SHORT, 1, value);
    }

    private static byte[] longs(int tag, int value) {
        return OddFiles.entry(ByteOrder.BIG_ENDIAN, tag, OddFiles.LONG, 1, value);
    }

    @Test
    void rejectsVeryLargeImagesBeforeDecoding() {
        assertRefused(ImageFiles.pngThatClaims(100_000, 100_000), "limit of 178 million");
        assertRefused(ImageFiles.pngThatClaims(0, 10), "");
        assertRefused(ImageFiles.pngThatClaims(-1, 10), "");
    }

    @Test
    void namesMissingFilesAndFolders() {
        Path missing = folder.resolve("nowhere.jpg");
        assertEquals(
                missing + ": no such file",
                assertThrows(SaccadeException.class, () -> ImageReader.read(missing)).getMessage());
        SaccadeException thrown =
                assertThrows(SaccadeException.class, () -> ImageReader.read(folder));
        assertEquals(SaccadeException.Kind.IO, thrown.kind());
    }

    private void assertRefused(byte[] bytes, String message) {
        SaccadeException thrown = assertThrows(SaccadeException.class, () -> read(bytes));
        assertEquals(SaccadeException.Kind.USER, thrown.kind());
        assertTrue(thrown.getMessage().contains(message), thrown.getMessage());
    }

    private Mat read(byte[] bytes) throws IOException {
        return ImageReader.read(write("picture", bytes));
    }

    private Path write(String name, byte[] bytes) throws IOException {
        return Files.write(folder.resolve(name), bytes);
    }
}
