package dev.saccade.datasets.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.opencv.core.Core;
import org.opencv.core.Mat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.CRC32;

/** Files written and read by tifffile 2026, rasterio 1.4 and NumPy. */
class RasterFilesTest {

    /** Raise to fuzz longer: {@code -Draster.fuzz=1000000}. */
    private static final int FUZZED_FILES = Integer.getInteger("raster.fuzz", 3000);

    @TempDir Path folder;

    static Path file(String name) {
        try {
            return Path.of(RasterFilesTest.class.getResource("/raster/" + name).toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @CsvFileSource(resources = "/raster/values.csv")
    void readsTheSameValuesAsPython(String name, int height, int width, int channels, long crc)
            throws IOException {
        try (RasterFile file = RasterFiles.open(file(name), channels)) {
            Raster raster = file.read();
            assertEquals(
                    List.of(height, width, channels),
                    List.of(raster.height(), raster.width(), raster.channels()));
            assertEquals(crc, crc(raster));
        }
    }

    @ParameterizedTest
    @CsvFileSource(resources = "/raster/values.csv")
    void readsWindows(String name, int height, int width, int channels) throws IOException {
        try (RasterFile file = RasterFiles.open(file(name), channels)) {
            Raster all = file.read();
            SplittableRandom random = new SplittableRandom(1);
            for (int i = 0; i < 20; i++) {
                int left = random.nextInt(width);
                int top = random.nextInt(height);
                Window window =
                        new Window(
                                left,
                                top,
                                1 + random.nextInt(width - left),
                                1 + random.nextInt(height - top));
                Raster part = file.read(window);
                for (int y = 0; y < part.height(); y++) {
                    for (int x = 0; x < part.width(); x++) {
                        for (int c = 0; c < channels; c++) {
                            assertEquals(all.value(top + y, left + x, c), part.value(y, x, c));
                        }
                    }
                }
            }
        }
    }

    @Test
    void reportsPagesThatAreNotRead() throws IOException {
        try (RasterFile file = RasterFiles.open(file("i4_pages.tif"), 1)) {
            assertEquals(1, file.channels());
            assertEquals(List.of("has several pages; only the first is read"), file.warnings());
        }
    }

    @Test
    void reportsBytesOfALargerRange() {
        try (PixelFile opened = PixelFile.open(file("u1_lzw_p2.tif"), PixelFormat.of(3, 0, 255))) {
            assertEquals(List.of(), opened.warnings());
        }
        try (PixelFile opened = PixelFile.open(file("u1_lzw_p2.tif"), PixelFormat.of(3, 0, 4095))) {
            assertEquals(
                    List.of(
                            "has 8-bit values, which are dark in data.range [0.0, 4095.0]; use"
                                    + " images with the values of the training images, or correct"
                                    + " data.range"),
                    opened.warnings());
        }
    }

    @Test
    void reportsClippedValues() {
        Path file = file("u2_band_lzw_p2.tif");
        assertEquals(List.of(), warnings(file, PixelFormat.of(4, 0, 65_535)));
        List<String> warnings = warnings(file, PixelFormat.of(4, 65_534, 65_535));
        assertEquals(1, warnings.size());
        assertTrue(
                warnings.get(0)
                        .endsWith(
                                " % of its values are outside of data.range [65534.0, 65535.0] and"
                                        + " are clipped; correct data.range"),
                warnings.get(0));
    }

    @Test
    void showsTheDisplayedChannels() {
        Path file = file("u2_band_lzw_p2.tif");
        List<Double> range = List.of(0.0, 65_535.0);
        Mat shown = Composite.read(file, new PixelFormat(4, range, List.of(), List.of(4, 1, 2)));
        Mat first = Composite.read(file, new PixelFormat(4, range, List.of(), List.of()));
        // BGR shows channels 2, 1, 4 and 3, 2, 1.
        assertEquals(0, norm(shown, 0, first, 1));
        assertEquals(0, norm(shown, 1, first, 2));
        assertTrue(norm(shown, 2, first, 0) > 0);
    }

    private static double norm(Mat a, int channelOfA, Mat b, int channelOfB) {
        Mat one = new Mat();
        Mat other = new Mat();
        Core.extractChannel(a, one, channelOfA);
        Core.extractChannel(b, other, channelOfB);
        return Core.norm(one, other, Core.NORM_INF);
    }

    private static List<String> warnings(Path file, PixelFormat format) {
        List<String> warnings = new ArrayList<>();
        try (PixelFile opened = PixelFile.open(file, format)) {
            opened.read(warnings::add).release();
        }
        return warnings;
    }

    @Test
    void rejectsPalettes() throws IOException {
        byte[] bytes = Files.readAllBytes(file("geo_utm.tif"));
        ByteBuffer tiff = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int tags = tiff.getInt(4);
        for (int at = tags + 2; at < tags + 2 + 12 * tiff.getShort(tags); at += 12) {
            if (tiff.getShort(at) == 0x106) {
                tiff.putShort(at + 8, (short) 3);
            }
        }
        assertMessage("indices of a color palette", () -> RasterFiles.open("a.tif", bytes, 1));
    }

    @Test
    void rejectsWindowsOutsideOfTheImage() throws IOException {
        try (RasterFile file = RasterFiles.open(file("i1.tif"), 2)) {
            assertMessage("is not inside of 23 x 19", () -> file.read(new Window(20, 0, 4, 1)));
        }
    }

    @Test
    void checksSizesBeforeAllocatingMemory() {
        String header =
                "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000, 4)}";
        ByteBuffer npy = ByteBuffer.allocate(200).order(ByteOrder.LITTLE_ENDIAN);
        npy.put(NumpyFile.MAGIC).put((byte) 1).put((byte) 0).putShort((short) header.length());
        npy.put(header.getBytes(StandardCharsets.US_ASCII));
        assertMessage(
                "a.npy: cannot be read: it points outside of the file",
                () -> RasterFiles.open("a.npy", npy.array(), 4));
    }

    @Test
    void rejectsOtherFiles() throws IOException {
        Path text = Files.writeString(folder.resolve("a.tif"), "no image");
        assertMessage("is not an image", () -> RasterFiles.open(text, 4));
        Path missing = folder.resolve("b.tif");
        assertMessage("b.tif: no such file", () -> RasterFiles.open(missing, 4));
    }

    @Test
    void rejectsDamagedFilesWithAMessage() throws IOException {
        List<Path> files;
        try (var all = Files.list(file("values.csv").getParent())) {
            files = all.filter(file -> !file.toString().endsWith(".csv")).sorted().toList();
        }
        SplittableRandom random = new SplittableRandom(0);
        int readable = 0;
        for (int i = 0; i < FUZZED_FILES; i++) {
            byte[] bytes = damaged(Files.readAllBytes(files.get(i % files.size())), random);
            try (RasterFile file = RasterFiles.open("x", bytes, 1 + random.nextInt(5))) {
                file.read(new Window(0, 0, 1, file.height()));
                readable++;
            } catch (SaccadeException e) {
                assertEquals(SaccadeException.Kind.USER, e.kind(), e.getMessage());
                assertTrue(e.getMessage().startsWith("x:"), e.getMessage());
            }
        }
        assertTrue(readable > FUZZED_FILES / 20, "too many are rejected");
    }

    private static byte[] damaged(byte[] bytes, SplittableRandom random) {
        if (random.nextInt(10) == 0) {
            return Arrays.copyOf(bytes, random.nextInt(bytes.length));
        }
        for (int i = 1 + random.nextInt(6); i > 0; i--) {
            int at = random.nextInt(random.nextBoolean() ? bytes.length : 16);
            bytes[at] = (byte) random.nextInt(256);
        }
        return bytes;
    }

    private static void assertMessage(String part, Executable step) {
        String message = assertThrows(SaccadeException.class, step).getMessage();
        assertTrue(message.contains(part), message);
    }

    private static long crc(Raster raster) {
        CRC32 crc = new CRC32();
        ByteBuffer value = ByteBuffer.allocate(Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int y = 0; y < raster.height(); y++) {
            for (int x = 0; x < raster.width(); x++) {
                for (int c = 0; c < raster.channels(); c++) {
                    crc.update(value.putDouble(0, raster.value(y, x, c)).array());
                }
            }
        }
        return crc.getValue();
    }
}
