package dev.saccade.configgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.google.common.primitives.Bytes;

import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.image.PixelFormat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;
import org.opencv.imgcodecs.Imgcodecs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

class StoredPixelsTest {

    private static final int HEADER = 128;

    @TempDir Path folder;

    private static Optional<StoredPixels> of(Path... images) {
        return StoredPixels.of(List.of(images), ProgressBar.NONE);
    }

    /** Writes one column of pixels. */
    private Path array(String name, int channels, float... values) throws IOException {
        Path file = folder.resolve(name);
        String shape = "(" + values.length / channels + ", 1, " + channels + ")";
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(values);
        Files.write(file, Bytes.concat(header("<f4", shape), bytes.array()));
        return file;
    }

    private static byte[] header(String type, String shape) {
        String text =
                Text.format("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
        String padded = text + " ".repeat(HEADER - 11 - text.length()) + "\n";
        return ("\u0093NUMPY\1\0v\0" + padded).getBytes(ISO_8859_1);
    }

    @Test
    void ignoresMissingValues() throws IOException {
        float nan = Float.NaN;
        StoredPixels pixels = of(array("a.npy", 2, 2, 102, nan, -3e38f, 202, 2)).orElseThrow();
        assertEquals(2, pixels.format().channels());
        assertEquals(List.of(2.0, 202.0), pixels.format().range());
        assertEquals(85, pixels.statistics().mean().get(0), 1e-9);
        assertEquals(42.5, pixels.statistics().mean().get(1), 1e-9);
        assertEquals(255 * Math.sqrt(2) / 3, pixels.statistics().std().get(0), 1e-9);
    }

    @Test
    void readsOnlyTheCenterOfLargeImages() throws IOException {
        Path file = folder.resolve("large.npy");
        int edge = 40_000;
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(header("<u2", "(" + edge + ", " + edge + ")")));
            ByteBuffer center = ByteBuffer.allocate(2).order(ByteOrder.LITTLE_ENDIAN);
            channel.write(
                    center.putShort(0, (short) 1000),
                    HEADER + 2 * ((long) edge * edge / 2 + edge / 2));
            // A sparse file of 3.2 GB.
            channel.write(ByteBuffer.allocate(1), HEADER + 2L * edge * edge - 1);
        }
        ValueSample sample = ValueSample.read(file);
        assertEquals(1, sample.large());
        assertEquals(1000, sample.high());
        assertTrue(sample.values() <= 1 << 23, sample.values() + " values");
    }

    @Test
    void reportsFurtherPages() {
        OpenCv.load();
        Path stack = folder.resolve("stack.tif");
        Mat page = new Mat(4, 4, CvType.CV_16U, new Scalar(3000));
        Imgcodecs.imwritemulti(stack.toString(), List.of(page, page));
        assertEquals(
                List.of(
                        "1 channel of uint16, 3000 to 3000 in 1 image.",
                        "Only the first page of 1 image was read. If pages are channels, set"
                                + " channels and normalize."),
                of(stack).orElseThrow().describe());
    }

    @Test
    void rejectsDifferentChannels() throws IOException {
        Path two = array("two.npy", 2, 1, 2, 3, 4);
        Path three = array("three.npy", 3, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        StoredPixels pixels = of(two, three, two).orElseThrow();
        assertEquals(2, pixels.images());
        String message = assertThrows(SaccadeException.class, pixels::requireNoFaults).getMessage();
        assertTrue(message.contains("three.npy: has 3 channels, but "), message);
    }

    @Test
    void rejectsUnreadableImages() throws IOException {
        OpenCv.load();
        Path cut = folder.resolve("cut.png");
        Imgcodecs.imwrite(cut.toString(), new Mat(40, 40, CvType.CV_16U, new Scalar(3000)));
        byte[] bytes = Files.readAllBytes(cut);
        Files.write(cut, Arrays.copyOf(bytes, bytes.length - 20));
        StoredPixels pixels = of(cut).orElseThrow();
        assertEquals(PixelFormat.RGB, pixels.format());
        String message = assertThrows(SaccadeException.class, pixels::requireNoFaults).getMessage();
        assertTrue(message.contains("cut.png: PNG is truncated"), message);
    }

    @Test
    void keepsTheBitsOfPngs() {
        OpenCv.load();
        Path deep = folder.resolve("deep.png");
        Imgcodecs.imwrite(deep.toString(), new Mat(4, 4, CvType.CV_16U, new Scalar(3000)));
        StoredPixels pixels = of(deep).orElseThrow();
        assertEquals(1, pixels.format().channels());
        assertEquals(List.of(0.0, 4095.0), pixels.format().range());
        Path flat = folder.resolve("flat.png");
        Imgcodecs.imwrite(flat.toString(), new Mat(4, 4, CvType.CV_8UC3, new Scalar(30)));
        assertEquals(Optional.empty(), of(flat));
    }
}
