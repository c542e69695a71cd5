package dev.saccade.datasets.image;

import static dev.saccade.datasets.image.OddFiles.LONG;
import static dev.saccade.datasets.image.OddFiles.SHORT;
import static dev.saccade.datasets.image.OddFiles.chunk;
import static dev.saccade.datasets.image.OddFiles.entry;
import static dev.saccade.datasets.image.OddFiles.entryTo;
import static dev.saccade.datasets.image.OddFiles.exifSegment;
import static dev.saccade.datasets.image.OddFiles.insert;
import static dev.saccade.datasets.image.OddFiles.jpeg;
import static dev.saccade.datasets.image.OddFiles.png;
import static dev.saccade.datasets.image.OddFiles.segment;
import static dev.saccade.datasets.image.OddFiles.tiff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.management.ThreadMXBean;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.check.ImageCheck;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Small files that claim much: reading them takes no more than what they are. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClaimsTest {

    private static final int LARGE = 0x3FFFFFF0;

    /** Far more than messages and the copies of some 100 kB take. */
    private static final long MAX_BYTES = 8_000_000;

    private static final CheckOptions QUICK =
            new CheckOptions(false, TargetKind.BOXES, 1, () -> {});

    @TempDir Path folder;

    static Stream<Arguments> files() {
        byte[] jpeg = ImageFiles.jpeg(40, 24);
        byte[] png = ImageFiles.png(40, 24, BufferedImage.TYPE_BYTE_GRAY);
        byte[] bmp = ImageFiles.encode(ImageFiles.picture(40, 24, 5), "bmp");
        byte[] small = OddFiles.bigTiff(8, new byte[64], 1);
        return Stream.of(
                Arguments.of("PNG, text", png(png, claim(chunk("tEXt", new byte[9])))),
                Arguments.of("PNG, EXIF", png(png, claim(chunk("eXIf", OddFiles.exif(6))))),
                Arguments.of("PNG, profile", png(png, claim(chunk("iCCP", new byte[9])))),
                Arguments.of("PNG, pixels", insert(png, 33, claim(chunk("IDAT", new byte[9])))),
                Arguments.of("PNG, header", with(png, 8, 0x7FFFFFFF)),
                Arguments.of("PNG, negative", with(png, 33, 0xFFFFFFF4)),
                Arguments.of("JPEG, EXIF", jpeg(jpeg, exifSegment(directory(5000)))),
                Arguments.of("JPEG, segment", jpeg(jpeg, new byte[] {-1, -31, -1, -1, 'E', 'x'})),
                Arguments.of("JPEG, empty segments", jpeg(jpeg, emptySegments())),
                Arguments.of("TIFF, values", directory(60_000)),
                Arguments.of("TIFF, loop", tiff(BIG_ENDIAN, new byte[0], size(8), size(9))),
                Arguments.of("TIFF, strips", strips(LARGE)),
                Arguments.of("TIFF, tiles", tiles()),
                Arguments.of("BigTIFF, entries", with(small, 16, -1)),
                Arguments.of("BigTIFF, directory", with(small, 12, LARGE)),
                Arguments.of("BMP, header", little(bmp, 14, LARGE)),
                Arguments.of("BMP, palette", little(bmp, 46, LARGE)),
                Arguments.of("BMP, pixels", little(bmp, 10, LARGE)),
                Arguments.of("WebP", webp(LARGE)),
                Arguments.of("WebP, chunk", little(webp(40), 16, LARGE)));
    }

    private static byte[] claim(byte[] chunk) {
        return with(chunk, 0, LARGE);
    }

    private static byte[] with(byte[] file, int at, int value) {
        byte[] changed = file.clone();
        ByteBuffer.wrap(changed).putInt(at, value);
        return changed;
    }

    private static byte[] little(byte[] file, int at, int value) {
        return with(file, at, Integer.reverseBytes(value));
    }

    /** Returns a directory of entries that all have the same, nearly all, bytes as values. */
    private static byte[] directory(int entries) {
        return tiff(
                BIG_ENDIAN,
                new byte[0],
                IntStream.range(0, entries)
                        .mapToObj(tag -> entryTo(BIG_ENDIAN, 0x9000, 1, 12 * entries - 20, 8))
                        .toArray(byte[][]::new));
    }

    private static byte[] emptySegments() {
        byte[][] segments = new byte[20_000][];
        Arrays.fill(segments, segment(0xED));
        return OddFiles.join(segments);
    }

    private static byte[] size(int side) {
        return entry(BIG_ENDIAN, 0xF8 + side, SHORT, 1, side);
    }

    private static byte[] strips(int count) {
        return tiff(
                LITTLE_ENDIAN,
                new byte[0],
                entry(LITTLE_ENDIAN, 0x100, SHORT, 1, 8),
                entry(LITTLE_ENDIAN, 0x101, SHORT, 1, 8),
                entry(LITTLE_ENDIAN, 0x102, SHORT, 1, 8),
                entry(LITTLE_ENDIAN, 0x106, SHORT, 1, 1),
                entryTo(LITTLE_ENDIAN, 0x111, LONG, count, 8),
                entryTo(LITTLE_ENDIAN, 0x117, LONG, count, 8));
    }

    private static byte[] tiles() {
        return tiff(
                LITTLE_ENDIAN,
                new byte[0],
                entry(LITTLE_ENDIAN, 0x100, SHORT, 1, 8),
                entry(LITTLE_ENDIAN, 0x101, SHORT, 1, 8),
                entry(LITTLE_ENDIAN, 0x102, SHORT, 1, 8),
                entry(LITTLE_ENDIAN, 0x106, SHORT, 1, 1),
                entry(LITTLE_ENDIAN, 0x142, LONG, 1, 0x7FFFFFF0),
                entry(LITTLE_ENDIAN, 0x143, LONG, 1, 0x7FFFFFF0),
                entry(LITTLE_ENDIAN, 0x144, LONG, 1, 8),
                entry(LITTLE_ENDIAN, 0x145, LONG, 1, 8));
    }

    private static byte[] webp(int length) {
        byte[] webp = new byte[48];
        ByteBuffer.wrap(webp).put("RIFF....WEBPVP8L....".getBytes(US_ASCII)).put(20, (byte) 0x2F);
        return little(webp, 4, length);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("files")
    void usesNoMoreMemoryThanTheFileSize(String name, byte[] bytes) throws IOException {
        Path file = Files.write(folder.resolve("claims"), bytes);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        List<Runnable> readers = new ArrayList<>();
        readers.add(() -> ImageHeader.read(file));
        readers.add(() -> ImageCheck.run(file, QUICK, finding -> {}));
        readers.add(() -> ImageReader.read(file).release());
        readers.add(() -> IndexPng.read(file));
        for (Runnable reader : readers) {
            long before = threads.getCurrentThreadAllocatedBytes();
            try {
                reader.run();
            } catch (SaccadeException e) {
                assertEquals(SaccadeException.Kind.USER, e.kind());
            }
            long taken = threads.getCurrentThreadAllocatedBytes() - before;
            assertTrue(taken < MAX_BYTES, "takes " + taken + " bytes");
        }
    }

    @Test
    void rejectsImagesLargerThanTheHeap() throws Exception {
        Path file = folder.resolve("large.png");
        byte[] header = {0, 0, 0x32, 0, 0, 0, 0x32, 0, 8, 0, 0, 0, 0};
        byte[] png = ImageFiles.png(40, 24, BufferedImage.TYPE_BYTE_GRAY);
        ByteBuffer.wrap(png).put(8, chunk("IHDR", header));
        Files.write(file, png);
        Process small =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx64m",
                                "-cp",
                                System.getProperty("java.class.path"),
                                SmallHeap.class.getName(),
                                file.toString())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        String said = new String(small.getInputStream().readAllBytes(), UTF_8);
        assertTrue(said.startsWith(file + ": out of memory: use a smaller image"), said);
        assertEquals(0, small.waitFor());
    }

    /** Reads a label map in a process of little memory. */
    static final class SmallHeap {

        private SmallHeap() {}

        public static void main(String[] file) {
            try {
                IndexPng.read(Path.of(file[0]));
            } catch (SaccadeException e) {
                System.out.print(e.getMessage());
            }
        }
    }
}
