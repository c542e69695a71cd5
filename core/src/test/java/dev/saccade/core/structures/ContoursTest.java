package dev.saccade.core.structures;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.primitives.ImmutableIntArray;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Random;

class ContoursTest {

    private static final Size SMALL = new Size(4, 5);

    @Test
    void holesRunCounterclockwise() {
        Rle ring = Rle.fromCounts(SMALL, 4, 3, 1, 1, 1, 1, 1, 3, 5);

        assertEquals(
                List.of(
                        ImmutableIntArray.of(4, 0, 4, 3, 1, 3, 1, 0),
                        ImmutableIntArray.of(2, 1, 2, 2, 3, 2, 3, 1)),
                Contours.trace(ring));
    }

    @Test
    void diagonalPixelsAreNotConnected() {
        assertEquals(2, Contours.trace(Rle.fromCounts(SMALL, 0, 1, 4, 1, 14)).size());
        assertEquals(List.of(), Contours.trace(Rle.empty(SMALL)));
    }

    @Test
    void cutsMasksThroughHoles() {
        Rle ring = Rle.fromCounts(SMALL, 4, 3, 1, 1, 1, 1, 1, 3, 5);

        List<double[]> polygons = ring.toPolygons();

        assertArrayEquals(new double[] {2, 0, 2, 3, 1, 3, 1, 0}, polygons.get(0));
        assertEquals(ring, Rle.fromPolygons(SMALL, polygons));
        assertEquals(List.of(), Rle.empty(SMALL).toPolygons());
    }

    /** Random pixels have holes, islands in holes, and touching corners. */
    @Property(tries = 300)
    void polygonsRestoreTheMask(
            @ForAll @IntRange(min = 1, max = 12) int height,
            @ForAll @IntRange(min = 1, max = 12) int width,
            @ForAll long seed) {
        Random random = new Random(seed);
        double density = random.nextDouble();
        byte[] bitmap = new byte[height * width];
        for (int i = 0; i < bitmap.length; i++) {
            bitmap[i] = (byte) (random.nextDouble() < density ? 1 : 0);
        }
        bitmap[random.nextInt(bitmap.length)] = 1;
        Size size = new Size(height, width);
        Rle mask = Rle.encode(size, bitmap);

        List<double[]> polygons = mask.toPolygons();

        assertEquals(mask, Rle.fromPolygons(size, polygons));
        int pixels = polygons.stream().mapToInt(p -> Rle.fromPolygon(size, p).area()).sum();
        assertEquals(mask.area(), pixels, "polygons do not overlap");
    }

    /** Random pixels have holes, islands in holes, and touching corners. */
    @Property(tries = 200)
    void followsTheEvenOddRule(
            @ForAll @IntRange(max = 12) int height,
            @ForAll @IntRange(max = 12) int width,
            @ForAll long seed) {
        Random random = new Random(seed);
        byte[] bitmap = new byte[height * width];
        random.nextBytes(bitmap);
        for (int i = 0; i < bitmap.length; i++) {
            bitmap[i] = (byte) (bitmap[i] & 1);
        }
        byte[] filled = new byte[bitmap.length];
        for (ImmutableIntArray contour :
                Contours.trace(Rle.encode(new Size(height, width), bitmap))) {
            for (int i = 0; i < contour.length(); i += 2) {
                int next = (i + 2) % contour.length();
                toggleRight(filled, width, contour, i, next);
            }
        }
        for (int i = 0; i < bitmap.length; i++) {
            assertEquals(bitmap[i], filled[i], "pixel " + i);
        }
    }

    /** Toggles all pixels to the right of a vertical side. */
    private static void toggleRight(
            byte[] filled, int width, ImmutableIntArray contour, int from, int to) {
        int top = Math.min(contour.get(from + 1), contour.get(to + 1));
        int bottom = Math.max(contour.get(from + 1), contour.get(to + 1));
        for (int y = top; y < bottom; y++) {
            for (int x = contour.get(from); x < width; x++) {
                filled[y * width + x] ^= 1;
            }
        }
    }
}
