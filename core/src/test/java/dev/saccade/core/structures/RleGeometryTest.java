package dev.saccade.core.structures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.aggregator.ArgumentsAccessor;
import org.junit.jupiter.params.provider.CsvFileSource;

import java.util.Random;

/** Compares transforms of runs with loops over bitmaps and recorded results of OpenCV. */
class RleGeometryTest {

    private static final String RECORDED = "/dev/saccade/core/structures/masks.csv";

    private interface Pixel {
        boolean at(int y, int x);
    }

    @Provide
    Arbitrary<Rle> masks() {
        Arbitrary<Integer> sides = Arbitraries.integers().between(0, 14);
        return Combinators.combine(sides, sides, Arbitraries.longs(), Arbitraries.of(1, 5, 9))
                .as((height, width, seed, tenths) -> random(height, width, seed, tenths));
    }

    private static Rle random(int height, int width, long seed, int tenths) {
        Random random = new Random(seed);
        return mask(new Size(height, width), (y, x) -> random.nextInt(10) < tenths);
    }

    private static Rle mask(Size size, Pixel pixel) {
        byte[] bitmap = new byte[(int) size.area()];
        for (int i = 0; i < bitmap.length; i++) {
            bitmap[i] = (byte) (pixel.at(i / size.width(), i % size.width()) ? 1 : 0);
        }
        return Rle.encode(size, bitmap);
    }

    private static Pixel pixels(Rle mask) {
        byte[] bitmap = mask.decode();
        Size size = mask.size();
        return (y, x) ->
                y >= 0
                        && y < size.height()
                        && x >= 0
                        && x < size.width()
                        && bitmap[y * size.width() + x] == 1;
    }

    @Property
    void flipsPixels(@ForAll("masks") Rle mask) {
        Pixel pixels = pixels(mask);
        Size size = mask.size();
        assertEquals(
                mask(size, (y, x) -> pixels.at(y, size.width() - 1 - x)), mask.flipHorizontal());
        assertEquals(
                mask(size, (y, x) -> pixels.at(size.height() - 1 - y, x)), mask.flipVertical());
    }

    @Property
    void cropsAndPadsPixels(
            @ForAll("masks") Rle mask,
            @ForAll @IntRange(max = 14) int a,
            @ForAll @IntRange(max = 14) int b,
            @ForAll @IntRange(max = 14) int c,
            @ForAll @IntRange(max = 14) int d) {
        Pixel pixels = pixels(mask);
        int top = Math.min(a, mask.size().height());
        int left = Math.min(b, mask.size().width());
        Size part =
                new Size(
                        Math.min(c, mask.size().height() - top),
                        Math.min(d, mask.size().width() - left));
        assertEquals(
                mask(part, (y, x) -> pixels.at(top + y, left + x)), mask.crop(top, left, part));
        Size padded = new Size(mask.size().height() + c, mask.size().width() + d);
        assertEquals(mask(padded, pixels), mask.pad(padded));
        assertEquals(mask, mask.pad(padded).crop(0, 0, mask.size()));
    }

    @Property
    void resizesToNearestPixels(
            @ForAll @IntRange(min = 1, max = 14) int height,
            @ForAll @IntRange(min = 1, max = 14) int width,
            @ForAll @IntRange(min = 1, max = 40) int newHeight,
            @ForAll @IntRange(min = 1, max = 40) int newWidth,
            @ForAll long seed) {
        Rle mask = random(height, width, seed, 5);
        Pixel pixels = pixels(mask);
        double stepY = 1 / ((double) newHeight / height);
        double stepX = 1 / ((double) newWidth / width);
        Size target = new Size(newHeight, newWidth);
        assertEquals(
                mask(
                        target,
                        (y, x) ->
                                pixels.at(
                                        (int) Math.min(Math.floor(y * stepY), height - 1),
                                        (int) Math.min(Math.floor(x * stepX), width - 1))),
                mask.resize(target));
    }

    @Property
    void boundaryEqualsErosion(
            @ForAll("masks") Rle mask, @ForAll @DoubleRange(min = 0, max = 0.6) double ratio) {
        Pixel pixels = pixels(mask);
        double diagonal = Math.hypot(mask.size().height(), mask.size().width());
        int distance = (int) Math.max(1, Math.rint(ratio * diagonal));
        Pixel boundary =
                (y, x) -> {
                    boolean inside = true;
                    for (int dy = -distance; dy <= distance; dy++) {
                        for (int dx = -distance; dx <= distance; dx++) {
                            inside &= pixels.at(y + dy, x + dx);
                        }
                    }
                    return pixels.at(y, x) && !inside;
                };
        assertEquals(mask(mask.size(), boundary), mask.boundary(ratio));
    }

    @ParameterizedTest
    @CsvFileSource(resources = RECORDED)
    void equalsPycocotools(String what, int height, int width, String mask, ArgumentsAccessor row) {
        String a = row.getString(4);
        String b = row.getString(5);
        Size size = new Size(height, width);
        Rle read = Rle.fromString(size, mask);
        String found =
                switch (what) {
                    case "resize" ->
                            read.resize(new Size(Integer.parseInt(a), Integer.parseInt(b)))
                                    .toCompressedString();
                    case "boundary" -> read.boundary(Double.parseDouble(a)).toCompressedString();
                    default ->
                            Double.toString(
                                    read.boundary()
                                            .iou(
                                                    Rle.fromString(size, a).boundary(),
                                                    Boolean.parseBoolean(b)));
                };
        assertEquals(row.getString(6), found);
    }

    @Test
    void boundaryIsTwoPercentOfTheDiagonal() {
        Rle empty = Rle.empty(new Size(300, 400));
        assertEquals(empty, empty.boundary());
        Rle full = Rle.fromCounts(new Size(300, 400), 0, 120_000);
        assertEquals(120_000 - 280 * 380, full.boundary().area());
    }

    @Test
    void transformsLargeMasksWithoutBitmaps() {
        Size huge = new Size(30_000, 60_000);
        Rle square = Rle.fromBox(huge, 10, 10, 20_000, 20_000);
        Rle half = square.resize(new Size(15_000, 30_000));
        assertEquals(10_000 * 10_000, half.area());
        assertEquals(new Rle.Bounds(5, 5, 10_000, 10_000), half.bounds());
        assertEquals(square, square.flipVertical().flipVertical());
        int width = (int) Math.rint(0.02 * Math.hypot(30_000, 60_000));
        int inside = 20_000 - 2 * width;
        assertEquals(400_000_000 - inside * inside, square.boundary().area());
    }

    @Test
    void rejectsWrongSizes() {
        Rle mask = Rle.empty(new Size(4, 5));
        assertThrows(IllegalArgumentException.class, () -> mask.crop(0, 1, new Size(4, 5)));
        assertThrows(IllegalArgumentException.class, () -> mask.crop(-1, 0, new Size(2, 2)));
        assertThrows(IllegalArgumentException.class, () -> mask.pad(new Size(3, 9)));
        assertThrows(IllegalArgumentException.class, () -> mask.resize(new Size(0, 9)));
        assertThrows(IllegalArgumentException.class, () -> mask.boundary(-1));
        assertEquals(Rle.empty(new Size(0, 3)), Rle.empty(new Size(2, 0)).resize(new Size(0, 3)));
    }
}
