package dev.saccade.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Splitter;
import com.google.common.primitives.Doubles;
import com.google.common.primitives.Ints;

import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * Masks: height, width and what {@code reader} makes one of, with blanks between. Every operation
 * on what is accepted keeps its promise.
 */
record MaskTarget(String name, List<byte[]> seeds, BiFunction<Size, List<String>, Rle> reader)
        implements FuzzTarget {

    private static final long MAX_DRAWN = 1 << 16;

    static MaskTarget ofStrings() {
        return new MaskTarget(
                "rle_strings",
                Texts.all("3 4 52203", "5 5 02O2", "4 4 `0", "100 80 `n7h1W6", "0 0 "),
                (size, words) -> Rle.fromString(size, words.isEmpty() ? "" : words.get(0)));
    }

    static MaskTarget ofCounts() {
        return new MaskTarget(
                "rle_counts",
                Texts.all("3 4 5 2 5", "5 5 0 25", "2 2 0 1 0 1 2", "100 80 7000 1000", "0 0"),
                (size, words) ->
                        Rle.fromCounts(
                                size, words.stream().mapToInt(MaskTarget::integer).toArray()));
    }

    static MaskTarget ofPolygons() {
        return new MaskTarget(
                "rle_polygons",
                Texts.all(
                        "9 9 1 1 5.5 1 5 7.25",
                        "100 80 -5 -5 200 10 40 300 / 3 3 4 4 5 3 6 6",
                        "20 3000 0 0 3000 0 1500 20",
                        "1000 7 0.1 0.2 6 999 3 -4"),
                (size, words) -> Rle.fromPolygons(size, polygons(words)));
    }

    @Override
    public Format format() {
        return Format.TEXT;
    }

    @Override
    public void enter(byte[] input) {
        List<String> words =
                Splitter.onPattern("\\s+").omitEmptyStrings().splitToList(Texts.of(input));
        if (words.size() >= 2) {
            Size size = new Size(integer(words.get(0)), integer(words.get(1)));
            check(reader.apply(size, words.subList(2, words.size())));
        }
    }

    private static int integer(String word) {
        Double number = Doubles.tryParse(word);
        return number == null ? 0 : Ints.saturatedCast(number.longValue());
    }

    private static List<double[]> polygons(List<String> words) {
        List<double[]> polygons = new ArrayList<>();
        List<Double> polygon = new ArrayList<>();
        for (String word : words) {
            if (word.equals("/")) {
                polygons.add(Doubles.toArray(polygon));
                polygon.clear();
            } else {
                Double number = Doubles.tryParse(word);
                polygon.add(number == null ? Double.NaN : number);
            }
        }
        polygons.add(Doubles.toArray(polygon));
        return polygons;
    }

    private static void check(Rle mask) {
        Size size = mask.size();
        assertEquals(mask, Rle.fromString(size, mask.toCompressedString()));
        assertEquals(mask, Rle.fromCounts(size, mask.counts()));
        assertEquals(mask.area() > 0 ? 1 : 0, mask.iou(mask, false));
        Rle.Bounds box = mask.bounds();
        assertTrue(box.x() >= 0 && box.width() <= size.width() - box.x(), box.toString());
        assertTrue(box.y() >= 0 && box.height() <= size.height() - box.y(), box.toString());
        if (size.area() > MAX_DRAWN) {
            return;
        }
        assertEquals(mask, Rle.encode(size, mask.decode()));
        assertEquals(mask, mask.flipHorizontal().flipHorizontal());
        assertEquals(mask, mask.flipVertical().flipVertical());
        assertEquals(mask, mask.crop(0, 0, size));
        if (size.area() > 0) {
            assertEquals(mask, mask.resize(size));
        }
        Rle part = mask.crop(box.y(), box.x(), new Size(box.height(), box.width()));
        assertEquals(mask.area(), part.area());
        assertTrue(mask.boundary().area() <= mask.area());
    }
}
