package dev.saccade.video;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opencv.core.Size;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A clip of 64x48 pixels, gray but for its red upper left quarter, with display matrices. */
class OrientationTest {

    private static final double[] RED = {0, 0, 255};
    private static final int TOLERANCE = 12;
    private static final int ONE = 1 << 16;

    /** From the type of a version 0 tkhd box to its matrix. */
    private static final int MATRIX = 4 + 40;

    @TempDir Path folder;

    private Path withMatrix(double a, double b, double c, double d) throws IOException {
        byte[] clip = Clips.bytes("clip.mp4");
        int matrix = new String(clip, ISO_8859_1).indexOf("tkhd") + MATRIX;
        ByteBuffer buffer = ByteBuffer.wrap(clip);
        double[] values = {a, b, c, d};
        for (int i = 0; i < values.length; i++) {
            buffer.putInt(matrix + 4 * (i + i / 2), (int) Math.round(values[i] * ONE));
        }
        return Files.write(folder.resolve("turned.mp4"), clip);
    }

    private static void assertRed(boolean right, boolean bottom, Video.Frame frame) {
        int row = bottom ? frame.image().rows() - 8 : 8;
        int column = right ? frame.image().cols() - 8 : 8;
        assertArrayEquals(RED, frame.image().get(row, column), TOLERANCE);
    }

    @ParameterizedTest
    @CsvSource({
        "1, 0, 0, 1, false, false, false",
        "0, 1, -1, 0, true, true, false",
        "-1, 0, 0, -1, false, true, true",
        "0, -1, 1, 0, true, false, true",
        "-1, 0, 0, 1, false, true, false",
        "1, 0, 0, -1, false, false, true",
        "0, 1, 1, 0, true, false, false",
        "0, -1, -1, 0, true, true, true",
    })
    void displayMatricesRotateAndFlip(
            int a, int b, int c, int d, boolean upended, boolean right, boolean bottom)
            throws IOException {
        try (Video video = Video.open(withMatrix(a, b, c, d));
                Video.Frame frame = video.next().orElseThrow()) {
            assertEquals(upended ? new Size(48, 64) : new Size(64, 48), frame.image().size());
            assertRed(right, bottom, frame);
            assertEquals(List.of(), video.notes());
        }
    }

    @Test
    void reportsOtherAngles() throws IOException {
        double angle = Math.toRadians(120);
        double sin = Math.sin(angle);
        double cos = Math.cos(angle);
        try (Video video = Video.open(withMatrix(cos, sin, -sin, cos));
                Video.Frame frame = video.next().orElseThrow()) {
            assertRed(true, false, frame);
            assertTrue(video.notes().get(0).contains("not a multiple of 90 degrees"));
        }
    }

    @Test
    void readsMatricesOfTheCodec() throws IOException {
        try (Video video = Video.open(Clips.copy(folder, "transposed_sei.mp4"));
                Video.Frame frame = video.next().orElseThrow()) {
            assertEquals(new Size(48, 64), frame.image().size());
            assertRed(false, false, frame);
        }
    }
}
