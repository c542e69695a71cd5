package dev.saccade.datasets.classification;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.ClassTarget;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.BatchAugment;

import org.junit.jupiter.api.Test;

import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

class PixelErasingTest {

    private static final Size SIZE = new Size(32, 48);
    private static final int PLANE = 32 * 48;
    private static final float UNCHANGED = 7;

    private static PixelErasing erasing(double prob, PixelErasing.Mode mode, int count) {
        return new PixelErasing(prob, List.of(0.02, 1.0 / 3), 0.3, mode, List.of(count, count));
    }

    private static float[] erased(PixelErasing erasing, int images, long seed) {
        float[] pixels = new float[images * 3 * PLANE];
        Arrays.fill(pixels, UNCHANGED);
        List<ClassTarget> targets = new ArrayList<>(Collections.nCopies(images, ClassTarget.of(1)));
        erasing.apply(
                new BatchAugment.Images(FloatBuffer.wrap(pixels), SIZE, targets),
                new SplittableRandom(seed));
        assertEquals(Collections.nCopies(images, ClassTarget.of(1)), targets);
        return pixels;
    }

    /** Returns the changed values of a channel of an image, 0 to 2. */
    private static float[] changed(float[] pixels, int image, int channel) {
        int start = (3 * image + channel) * PLANE;
        double[] values =
                IntStream.range(start, start + PLANE)
                        .mapToDouble(i -> pixels[i])
                        .filter(value -> value != UNCHANGED)
                        .toArray();
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    @Test
    void erasesTheSameRectangleInAllChannels() {
        for (int seed = 0; seed < 30; seed++) {
            float[] pixels = erased(erasing(1, PixelErasing.Mode.PIXEL, 1), 2, seed);
            for (int image = 0; image < 2; image++) {
                int area = changed(pixels, image, 0).length;
                assertTrue(area > 0.015 * PLANE && area < 0.36 * PLANE, "area " + area);
                for (int i = 0; i < PLANE; i++) {
                    int at = 3 * image * PLANE + i;
                    boolean first = pixels[at] != UNCHANGED;
                    assertEquals(first, pixels[at + PLANE] != UNCHANGED);
                    assertEquals(first, pixels[at + 2 * PLANE] != UNCHANGED);
                }
            }
        }
    }

    @Test
    void modesFillPixelsRectanglesOrTheMeanColor() {
        float[] pixels = erased(erasing(1, PixelErasing.Mode.PIXEL, 1), 1, 3);
        float[] values = changed(pixels, 0, 1);
        double mean =
                IntStream.range(0, values.length)
                        .mapToDouble(i -> values[i])
                        .average()
                        .orElseThrow();
        double square =
                IntStream.range(0, values.length)
                        .mapToDouble(i -> values[i] * values[i])
                        .average()
                        .orElseThrow();
        assertEquals(0, mean, 0.25);
        assertEquals(1, square, 0.3);

        float[] colors = erased(erasing(1, PixelErasing.Mode.RAND, 1), 1, 3);
        for (int channel = 0; channel < 3; channel++) {
            float[] color = changed(colors, 0, channel);
            for (float value : color) {
                assertEquals(color[0], value);
            }
        }
        assertTrue(changed(colors, 0, 0)[0] != changed(colors, 0, 1)[0]);

        for (float value : changed(erased(erasing(1, PixelErasing.Mode.CONST, 1), 1, 3), 0, 2)) {
            assertEquals(0, value);
        }
    }

    @Test
    void erasesImagesWithTheProbability() {
        float[] pixels = erased(erasing(0.25, PixelErasing.Mode.CONST, 1), 1000, 4);
        double erased =
                IntStream.range(0, 1000)
                        .filter(image -> changed(pixels, image, 0).length > 0)
                        .count();
        assertEquals(250.0, erased, 45.0);
        assertEquals(0, changed(erased(erasing(0, PixelErasing.Mode.PIXEL, 1), 1, 5), 0, 0).length);
    }

    @Test
    void rectanglesShareTheArea() {
        double one = 0;
        double four = 0;
        for (int seed = 0; seed < 300; seed++) {
            one += changed(erased(erasing(1, PixelErasing.Mode.CONST, 1), 1, seed), 0, 0).length;
            four += changed(erased(erasing(1, PixelErasing.Mode.CONST, 4), 1, seed), 0, 0).length;
        }
        // Rectangles may overlap.
        assertTrue(four < 1.05 * one && four > 0.8 * one, one + " and " + four);
    }

    @Test
    void dependsOnTheRandomNumbersOnly() {
        PixelErasing erasing = erasing(0.5, PixelErasing.Mode.PIXEL, 2);
        assertArrayEquals(erased(erasing, 4, 6), erased(erasing, 4, 6));
    }

    @Test
    void rejectsWrongSettings() {
        assertThrows(
                IllegalArgumentException.class, () -> erasing(1.5, PixelErasing.Mode.PIXEL, 1));
        assertThrows(IllegalArgumentException.class, () -> erasing(1, PixelErasing.Mode.PIXEL, -1));
    }
}
