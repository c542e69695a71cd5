package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.primitives.Ints;

import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.List;

/** RLE masks: encoding, area, bounds, union, IoU and polygons. */
final class RleKind implements Kind {

    private static final Tolerance IOU = Tolerance.absolute(1e-12);

    @Override
    public void run(Case recorded) {
        Settings file = recorded.settings("rle.json");
        file.objects("masks").forEach(RleKind::mask);
        file.objects("polygons").forEach(RleKind::polygons);
        file.objects("from_bbox").forEach(RleKind::box);

        Settings together = file.object("same_size");
        Size size = size(together);
        List<Rle> masks =
                together.texts("rles").stream().map(rle -> Rle.fromString(size, rle)).toList();
        file.objects("merge").forEach(merge -> merge(merge, masks));
        maskIou(recorded, file.object("iou"), masks);
        boxIou(recorded, file.object("bbox_iou"));
    }

    private static void mask(Settings mask) {
        Size size = size(mask);
        Rle rle = Rle.fromString(size, mask.text("rle"));
        byte[] bitmap = bitmap(mask.text("bits_row_major"), Math.toIntExact(size.area()));
        int[] counts = Ints.toArray(mask.integers("uncompressed"));
        assertEquals(rle, Rle.encode(size, bitmap));
        assertEquals(rle, Rle.fromCounts(size, counts));
        assertArrayEquals(counts, rle.counts());
        assertArrayEquals(bitmap, rle.decode());
        assertMask(mask, rle);
        assertBounds(mask, rle);
    }

    private static byte[] bitmap(String hex, int pixels) {
        byte[] bitmap = new byte[pixels];
        for (int i = 0; i < pixels; i++) {
            int digit = Character.digit(hex.charAt(i / 4), 16);
            bitmap[i] = (byte) (digit >> (3 - i % 4) & 1);
        }
        return bitmap;
    }

    private static void polygons(Settings entry) {
        Size size = size(entry);
        List<double[]> polygons =
                entry.lists("polygons").stream()
                        .map(list -> list.stream().mapToDouble(Double::doubleValue).toArray())
                        .toList();
        assertEquals(
                entry.texts("rles"),
                polygons.stream()
                        .map(polygon -> Rle.fromPolygon(size, polygon).toCompressedString())
                        .toList());
        Rle merged = Rle.fromPolygons(size, polygons);
        assertEquals(entry.text("merged"), merged.toCompressedString());
        assertEquals(entry.integer("area"), merged.area());
        assertBounds(entry, merged);
    }

    private static void box(Settings entry) {
        List<Double> box = entry.numbers("bbox");
        assertMask(entry, Rle.fromBox(size(entry), box.get(0), box.get(1), box.get(2), box.get(3)));
    }

    private static void merge(Settings entry, List<Rle> masks) {
        List<Rle> merged = entry.integers("of").stream().map(masks::get).toList();
        assertMask(entry, entry.flag("intersect") ? Rle.intersection(merged) : Rle.union(merged));
    }

    private static void maskIou(Case recorded, Settings entry, List<Rle> masks) {
        entry.describes("note");
        List<Integer> predicted = entry.integers("dt");
        List<Integer> objects = entry.integers("gt");
        List<Integer> crowd = entry.integers("iscrowd");
        double[] found = new double[predicted.size() * objects.size()];
        for (int i = 0; i < found.length; i++) {
            int object = i % objects.size();
            found[i] =
                    masks.get(predicted.get(i / objects.size()))
                            .iou(masks.get(objects.get(object)), crowd.get(object) == 1);
        }
        recorded.compare("iou", flat(entry), NumpyArray.of(found), IOU);
    }

    private static void boxIou(Case recorded, Settings entry) {
        entry.describes("note");
        NumpyArray found =
                BoxOverlaps.of(entry.lists("dt"), entry.lists("gt"), entry.integers("iscrowd"));
        recorded.compare("bbox_iou", flat(entry), found, IOU);
    }

    private static NumpyArray flat(Settings entry) {
        return NumpyArray.of(entry.lists("iou").stream().flatMap(List::stream).toList());
    }

    private static void assertMask(Settings entry, Rle rle) {
        assertEquals(entry.text("rle"), rle.toCompressedString());
        assertEquals(entry.integer("area"), rle.area());
    }

    private static void assertBounds(Settings entry, Rle rle) {
        Rle.Bounds bounds = rle.bounds();
        assertEquals(
                entry.integers("bbox"),
                List.of(bounds.x(), bounds.y(), bounds.width(), bounds.height()));
    }

    private static Size size(Settings entry) {
        return new Size(entry.integer("h"), entry.integer("w"));
    }
}
