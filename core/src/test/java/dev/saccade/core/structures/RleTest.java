package dev.saccade.core.structures;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.primitives.Bytes;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle.Bounds;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

class RleTest {

    private static final Size SMALL = new Size(4, 5);

    /** Two bitmaps of the same size. */
    record Pair(Size size, List<Byte> a, List<Byte> b) {

        Rle first() {
            return Rle.encode(size, Bytes.toArray(a));
        }

        Rle second() {
            return Rle.encode(size, Bytes.toArray(b));
        }

        /** Returns the number of pixels set in at least the given number of bitmaps. */
        int count(int atLeast) {
            return (int)
                    IntStream.range(0, a.size())
                            .filter(i -> a.get(i) + b.get(i) >= atLeast)
                            .count();
        }
    }

    @Provide
    Arbitrary<Pair> pairs() {
        Arbitrary<Byte> sparse =
                Arbitraries.frequency(Tuple.of(3, (byte) 0), Tuple.of(1, (byte) 1));
        return Arbitraries.integers()
                .between(0, 12)
                .tuple2()
                .flatMap(
                        sides -> {
                            Size size = new Size(sides.get1(), sides.get2());
                            int pixels = (int) size.area();
                            return sparse.list()
                                    .ofSize(pixels)
                                    .tuple2()
                                    .map(m -> new Pair(size, m.get1(), m.get2()));
                        });
    }

    @Property
    void allFormatsRoundTrip(@ForAll("pairs") Pair pair) {
        Rle mask = pair.first();
        assertEquals(pair.a(), Bytes.asList(mask.decode()));
        assertEquals(mask, Rle.fromString(pair.size(), mask.toCompressedString()));
        assertEquals(mask, Rle.fromCounts(pair.size(), mask.counts()));
        assertEquals(Collections.frequency(pair.a(), (byte) 1), mask.area());
    }

    @Property
    void boundsAreTight(@ForAll("pairs") Pair pair) {
        Bounds bounds = pair.first().bounds();
        int width = pair.size().width();
        int[] on = IntStream.range(0, pair.a().size()).filter(i -> pair.a().get(i) == 1).toArray();
        int left = Arrays.stream(on).map(i -> i % width).min().orElse(0);
        int top = Arrays.stream(on).map(i -> i / width).min().orElse(0);
        int right = Arrays.stream(on).map(i -> i % width).max().orElse(-1);
        int bottom = Arrays.stream(on).map(i -> i / width).max().orElse(-1);
        assertEquals(new Bounds(left, top, right - left + 1, bottom - top + 1), bounds);
    }

    @Property
    void setOperationsAndIouAgreeWithBitmaps(@ForAll("pairs") Pair pair) {
        Rle first = pair.first();
        Rle second = pair.second();
        int intersection = pair.count(2);
        assertEquals(intersection, Rle.intersection(List.of(first, second)).area());
        assertEquals(pair.count(1), Rle.union(List.of(first, second)).area());
        assertEquals(Rle.union(List.of(first, second)), Rle.union(List.of(second, first)));
        double iou = intersection == 0 ? 0 : (double) intersection / pair.count(1);
        double crowd = intersection == 0 ? 0 : (double) intersection / first.area();
        assertEquals(iou, first.iou(second, false));
        assertEquals(crowd, first.iou(second, true));
    }

    @Property
    void randomStringsAreMasksOrErrors(
            @ForAll @CharRange(from = '+', to = 's') String string,
            @ForAll @IntRange(min = -1, max = 40) int height,
            @ForAll @IntRange(min = -1, max = 40) int width) {
        Size size = new Size(height, width);
        try {
            Rle mask = Rle.fromString(size, string);
            assertEquals(size.area(), Arrays.stream(mask.counts()).asLongStream().sum());
            assertEquals(size.area(), mask.decode().length);
        } catch (SaccadeException expected) {
            assertEquals(SaccadeException.Kind.USER, expected.kind());
        }
    }

    @Property
    void randomRunsAreMasksOrErrors(@ForAll int[] counts) {
        try {
            assertEquals(new Size(3, 7), Rle.fromCounts(new Size(3, 7), counts).size());
        } catch (SaccadeException expected) {
            assertEquals(SaccadeException.Kind.USER, expected.kind());
        }
    }

    @Property
    void randomPolygonsAreMasksOrErrors(
            @ForAll double[] wild, @ForAll List<@DoubleRange(min = -90, max = 90) Double> near) {
        for (double[] polygon :
                List.of(wild, near.stream().mapToDouble(Double::doubleValue).toArray())) {
            try {
                Rle mask = Rle.fromPolygon(new Size(40, 50), polygon);
                assertTrue(mask.area() <= 2000);
            } catch (SaccadeException expected) {
                assertEquals(SaccadeException.Kind.USER, expected.kind());
            }
        }
    }

    @Test
    void runsAreColumnMajor() {
        byte[] bitmap = {0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0};
        Rle mask = Rle.encode(SMALL, bitmap);
        assertArrayEquals(new int[] {5, 2, 2, 2, 2, 2, 5}, mask.counts());
        assertEquals("5220003", mask.toCompressedString());
        assertEquals(new Bounds(1, 1, 3, 2), mask.bounds());
        assertEquals(6, mask.area());
    }

    @Test
    void mergesEmptyRuns() {
        Rle mask = Rle.fromCounts(SMALL, 0, 3, 0, 4, 5, 0, 8, 0);
        assertArrayEquals(new int[] {0, 7, 13}, mask.counts());
        assertArrayEquals(new int[] {0}, Rle.fromCounts(new Size(0, 5)).counts());
    }

    /** Strings created with pycocotools 2.0.11. */
    @Test
    void rasterizesLikePycocotools() {
        Rle square = Rle.fromPolygon(new Size(6, 8), 1, 1, 1, 4, 5, 4, 5, 1);
        assertEquals("73300000a0", square.toCompressedString());
        assertEquals(square, Rle.fromBox(new Size(6, 8), 1, 1, 4, 3));
        Rle triangle = Rle.fromPolygon(new Size(50, 50), 10.5, 10.5, 30.2, 12.1, 25.7, 40.9);
        assertEquals("aa01a12N2N2N2N2N2N2N2N2N2O1N2N2N2NL4J6I7JRo0", triangle.toCompressedString());
        assertEquals(new Bounds(11, 11, 19, 29), triangle.bounds());
    }

    @Test
    void unitesPolygons() {
        double[] left = {0, 0, 3, 0, 3, 4, 0, 4};
        double[] right = {2, 0, 5, 0, 5, 4, 2, 4};
        assertEquals(20, Rle.fromPolygons(SMALL, List.of(left, right)).area());
    }

    @ParameterizedTest
    @CsvSource({
        "5220, 'cover 11 pixels, but a mask of 4x5 has 20'",
        "52200035, 'run 7 has length 7, expected 0 to 0'",
        "P, run 0 is incomplete",
        "5 2, 'invalid character 1 (code 32)'",
        "PPPPPPPPPP0, 'invalid character 7 (code 80)'",
        "O, 'run 0 has length -1'",
        "oooooo0, 'run 0 has length 1073741823'"
    })
    void explainsBrokenStrings(String string, String expected) {
        SaccadeException error =
                assertThrows(SaccadeException.class, () -> Rle.fromString(SMALL, string));
        assertTrue(error.getMessage().contains(expected), error.getMessage());
    }

    @ParameterizedTest
    @CsvSource({"1, 2147483647", "2147483647, 0", "0, 2147483646", "-5, 10", "100000, 100000"})
    void rejectsImpossibleSizesEarly(int height, int width) {
        Size size = new Size(height, width);
        for (Executable mask :
                List.<Executable>of(
                        () -> Rle.empty(size),
                        () -> Rle.fromCounts(size, (int) size.area()),
                        () -> Rle.fromString(size, ""),
                        () -> Rle.fromPolygon(size, 1, 1, 9_000, 99_000, 99_000, 1))) {
            String message = assertThrows(SaccadeException.class, mask).getMessage();
            assertTrue(message.startsWith("mask: got size " + size), message);
        }
    }

    @Test
    void rejectsPolygonsWithTooManyCrossings() {
        double[] zigzag = new double[8_000];
        for (int i = 0; i < zigzag.length; i += 4) {
            zigzag[i] = 90_000;
        }
        Size wide = new Size(2, 90_000);
        String message =
                assertThrows(SaccadeException.class, () -> Rle.fromPolygon(wide, zigzag))
                        .getMessage();
        assertTrue(message.contains("more than 4194304 times"), message);
    }

    @Test
    void explainsBrokenRunsPolygonsAndSizes() {
        assertThrows(SaccadeException.class, () -> Rle.fromCounts(SMALL, 21, -1));
        assertThrows(
                SaccadeException.class,
                () -> Rle.fromCounts(SMALL, Integer.MAX_VALUE, Integer.MAX_VALUE, 22));
        assertThrows(SaccadeException.class, () -> Rle.fromCounts(new Size(1 << 16, 1 << 16), 0));
        assertThrows(SaccadeException.class, () -> Rle.fromPolygon(SMALL, 1, 1, 2, 2));
        assertThrows(SaccadeException.class, () -> Rle.fromPolygon(SMALL, 1, 1, 2, 2, 3, 3, 4));
        assertThrows(
                SaccadeException.class, () -> Rle.fromPolygon(SMALL, 1, 1, 2, Double.NaN, 3, 3));
        assertThrows(SaccadeException.class, () -> Rle.fromPolygon(SMALL, 1, 1, 2, 1e30, 3, 3));
        Rle mask = Rle.fromCounts(SMALL, 20);
        Rle other = Rle.fromCounts(new Size(5, 4), 20);
        assertThrows(SaccadeException.class, () -> mask.iou(other, false));
    }
}
