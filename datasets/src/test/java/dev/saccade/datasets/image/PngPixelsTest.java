package dev.saccade.datasets.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.ImageInfo;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.DeflaterOutputStream;

/** PNGs of which more is compressed than their pixels. */
class PngPixelsTest {

    private static final int SPARE = 1 << 16;

    /** Of all color types, whole and in seven passes, with the bytes that their rows have. */
    @ParameterizedTest
    @CsvSource({
        "10, 7, 8, 2, 0, 217",
        "10, 7, 8, 2, 1, 224",
        "10, 7, 16, 6, 0, 567",
        "10, 7, 16, 4, 1, 294",
        "10, 7, 1, 0, 0, 21",
        "10, 7, 2, 3, 1, 40",
        "1, 1, 8, 0, 1, 2",
        "3, 1, 4, 3, 1, 6"
    })
    void readsWhatIsOfItsPixelsAndALittleMore(
            int width, int height, int bits, int colors, int interlaced, int length)
            throws IOException {
        byte[] header =
                ByteBuffer.allocate(13)
                        .putInt(width)
                        .putInt(height)
                        .put(new byte[] {(byte) bits, (byte) colors, 0, 0, (byte) interlaced})
                        .array();
        assertEquals(height, ImageSource.of("x", png(header, length)).read().rows());
        assertEquals(height, ImageSource.of("x", png(header, length + SPARE)).read().rows());
        SaccadeException thrown =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                ImageReader.read(
                                        "x",
                                        png(header, length + SPARE + 1),
                                        ImageInfo.MAX_PIXELS,
                                        warning -> {}));
        assertEquals(
                Text.format(
                        "x: PNG contains more data than its %dx%d pixels; save it again",
                        height, width),
                thrown.getMessage());
    }

    /** Returns a PNG of zeros, in several chunks. */
    private static byte[] png(byte[] header, int length) throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (DeflaterOutputStream out = new DeflaterOutputStream(compressed)) {
            out.write(new byte[length]);
        }
        byte[] all = compressed.toByteArray();
        byte[] signature = {(byte) 0x89, 'P', 'N', 'G', 13, 10, 26, 10};
        return OddFiles.join(
                signature,
                OddFiles.chunk("IHDR", header),
                header[9] == 3 ? OddFiles.chunk("PLTE", new byte[12]) : new byte[0],
                OddFiles.chunk("IDAT", Arrays.copyOf(all, 3)),
                OddFiles.chunk("IDAT", Arrays.copyOfRange(all, 3, all.length)),
                OddFiles.chunk("IEND", new byte[0]));
    }
}
