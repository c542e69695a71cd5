package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.SaccadeException;

import java.util.Arrays;
import java.util.List;

/**
 * An immutable binary mask as run lengths, with the semantics of pycocotools' {@code mask}.
 *
 * <p>The runs go down the columns, from left to right, and alternate between background and
 * foreground. The first run is background and may be empty; no other run is, so that equal masks
 * have equal runs.
 *
 * <p>Whatever comes from a file is checked: input that does not describe a mask of the given size
 * ends in a {@link SaccadeException} of kind {@code USER}, whereas the original overruns its
 * buffers. Masks have at most 2^31 - 1 pixels.
 */
public final class Rle {

    private final Size size;
    private final int[] counts;

    /** Keeps the array: runs that are canonical and cover the mask. */
    private Rle(Size size, int[] counts) {
        this.size = size;
        this.counts = counts;
    }

    /**
     * The smallest box of whole pixels around a mask.
     *
     * @param x leftmost column
     * @param y topmost row
     * @param width number of columns, 0 for an empty mask
     * @param height number of rows, 0 for an empty mask
     */
    public record Bounds(int x, int y, int width, int height) {}

    /**
     * Returns the mask of a bitmap.
     *
     * @param size height and width of the bitmap
     * @param bitmap {@code [H, W]}, row by row; foreground where not 0
     */
    public static Rle encode(Size size, byte[] bitmap) {
        int pixels = pixels(size);
        checkArgument(bitmap.length == pixels, "%s bytes for a mask of %s", bitmap.length, size);
        RunBuilder runs = new RunBuilder(size);
        for (int x = 0; x < size.width(); x++) {
            for (int i = x; i < pixels; i += size.width()) {
                runs.add(1, bitmap[i] != 0);
            }
        }
        return runs.build();
    }

    /**
     * Returns the mask of given runs, COCO's "uncompressed" form.
     *
     * @param counts run lengths, background first; runs of length 0 are allowed
     * @throws SaccadeException if a run is negative or the runs do not cover the mask exactly
     */
    public static Rle fromCounts(Size size, int... counts) {
        RunBuilder runs = new RunBuilder(size);
        for (int i = 0; i < counts.length; i++) {
            runs.addChecked(counts[i], i);
        }
        return runs.build();
    }

    /**
     * Returns the mask of COCO's compressed string: 5 bits a character, low bits first, and from
     * the fourth run on the difference to the run before the last.
     *
     * @throws SaccadeException if a character is not one of '0' to 'o', the string ends within a
     *     number, or the runs do not cover the mask exactly
     */
    public static Rle fromString(Size size, String string) {
        RunBuilder runs = new RunBuilder(size);
        long beforeLast = 0;
        long last = 0;
        int position = 0;
        for (int run = 0; position < string.length(); run++) {
            int start = position;
            long value = 0;
            int bits = 0;
            boolean more = true;
            while (more) {
                if (position == string.length()) {
                    throw SaccadeException.user(
                            "run %d of an RLE string is cut off at its end (character %d)",
                            run, position);
                }
                int group = string.charAt(position) - '0';
                if (group < 0 || group > 63 || position - start == 7) {
                    throw SaccadeException.user(
                            "character %d of an RLE string, code %d, cannot be part of run %d",
                            position, (int) string.charAt(position), run);
                }
                value |= (group & 31L) << bits;
                bits += 5;
                more = (group & 32) != 0;
                if (!more && (group & 16) != 0) {
                    value |= -1L << bits;
                }
                position++;
            }
            if (run > 2) {
                value += beforeLast;
            }
            runs.addChecked(value, run);
            beforeLast = last;
            last = value;
        }
        return runs.build();
    }

    /**
     * Returns the union of polygons, rasterised as {@code rleFrPoly} does: the boundary is walked
     * on a grid of fifths of a pixel and every crossing of a pixel column toggles the mask below.
     *
     * @param polygons corners {@code x0, y0, x1, y1, ...} in continuous pixel coordinates; parts
     *     outside the image are cut off
     * @throws SaccadeException if a polygon has less than 3 corners, half a corner, or a coordinate
     *     that is not finite or absurdly far away
     */
    public static Rle fromPolygons(Size size, List<double[]> polygons) {
        checkArgument(!polygons.isEmpty(), "at least one polygon expected");
        return union(polygons.stream().map(polygon -> fromPolygon(size, polygon)).toList());
    }

    /** Returns a polygon as a mask; see {@link #fromPolygons}. */
    public static Rle fromPolygon(Size size, double... polygon) {
        if (polygon.length < 6 || polygon.length % 2 != 0) {
            throw SaccadeException.user(
                    "a polygon needs an even number of coordinates and at least 6, got %d",
                    polygon.length);
        }
        return toggled(size, new PolygonWalk(size).crossings(polygon));
    }

    /** Returns a box as a mask: the polygon of its corners. */
    public static Rle fromBox(Size size, double x, double y, double width, double height) {
        return fromPolygon(size, x, y, x, y + height, x + width, y + height, x + width, y);
    }

    /** Returns the mask that changes at each of the given positions in column order. */
    private static Rle toggled(Size size, int[] positions) {
        Arrays.sort(positions);
        RunBuilder runs = new RunBuilder(size);
        int previous = 0;
        boolean foreground = false;
        for (int position : positions) {
            runs.add(position - previous, foreground);
            previous = position;
            foreground = !foreground;
        }
        runs.add(pixels(size) - previous, foreground);
        return runs.build();
    }

    /** Returns the pixels that are in any of the masks, which must have one size. */
    public static Rle union(List<Rle> masks) {
        checkArgument(!masks.isEmpty(), "at least one mask expected");
        return masks.stream().reduce((a, b) -> a.merge(b, false)).orElseThrow();
    }

    /** Returns the pixels that are in all of the masks, which must have one size. */
    public static Rle intersection(List<Rle> masks) {
        checkArgument(!masks.isEmpty(), "at least one mask expected");
        return masks.stream().reduce((a, b) -> a.merge(b, true)).orElseThrow();
    }

    private Rle merge(Rle other, boolean intersect) {
        checkSameSize(other);
        RunBuilder runs = new RunBuilder(size);
        for (RunOverlay overlay = new RunOverlay(counts, other.counts); overlay.next(); ) {
            boolean foreground =
                    intersect
                            ? overlay.inFirst() && overlay.inSecond()
                            : overlay.inFirst() || overlay.inSecond();
            runs.add(overlay.length(), foreground);
        }
        return runs.build();
    }

    /** Returns height and width. */
    public Size size() {
        return size;
    }

    /** Returns a copy of the run lengths, background first. */
    public int[] counts() {
        return counts.clone();
    }

    /** Returns the number of foreground pixels. */
    public int area() {
        int area = 0;
        for (int i = 1; i < counts.length; i += 2) {
            area += counts[i];
        }
        return area;
    }

    /** Returns the box around the foreground; all 0 if there is none. */
    public Bounds bounds() {
        int left = Integer.MAX_VALUE;
        int right = -1;
        int top = Integer.MAX_VALUE;
        int bottom = -1;
        int start = counts[0];
        for (int i = 1; i < counts.length; i += 2) {
            int last = start + counts[i] - 1;
            int firstColumn = start / size.height();
            int lastColumn = last / size.height();
            boolean oneColumn = firstColumn == lastColumn;
            left = Math.min(left, firstColumn);
            right = lastColumn;
            top = Math.min(top, oneColumn ? start % size.height() : 0);
            bottom = Math.max(bottom, oneColumn ? last % size.height() : size.height() - 1);
            start = last + 1 + (i + 1 < counts.length ? counts[i + 1] : 0);
        }
        return right < 0
                ? new Bounds(0, 0, 0, 0)
                : new Bounds(left, top, right - left + 1, bottom - top + 1);
    }

    /**
     * Returns intersection over union with an object of the ground truth, from the runs alone.
     *
     * @param crowd whether the object is a crowd: then the intersection is divided by the area of
     *     this mask, because covering a part of a crowd is right
     * @return a number in [0, 1]; 0 if nothing is shared, also of empty masks
     */
    public double iou(Rle object, boolean crowd) {
        checkSameSize(object);
        long intersection = 0;
        long union = 0;
        for (RunOverlay overlay = new RunOverlay(counts, object.counts); overlay.next(); ) {
            if (overlay.inFirst() && overlay.inSecond()) {
                intersection += overlay.length();
            }
            if (overlay.inFirst() || (overlay.inSecond() && !crowd)) {
                union += overlay.length();
            }
        }
        return intersection == 0 ? 0 : (double) intersection / union;
    }

    /** Returns the bitmap: {@code [H, W]}, row by row, 1 in the foreground and 0 elsewhere. */
    public byte[] decode() {
        byte[] bitmap = new byte[pixels(size)];
        int position = 0;
        for (int i = 0; i < counts.length; i++) {
            int end = position + counts[i];
            if (i % 2 == 1) {
                for (int p = position; p < end; p++) {
                    bitmap[p % size.height() * size.width() + p / size.height()] = 1;
                }
            }
            position = end;
        }
        return bitmap;
    }

    /** Returns COCO's compressed string; {@link #fromString} reads it. */
    public String toCompressedString() {
        StringBuilder string = new StringBuilder(2 * counts.length);
        for (int i = 0; i < counts.length; i++) {
            int value = i > 2 ? counts[i] - counts[i - 2] : counts[i];
            boolean more = true;
            while (more) {
                int group = value & 31;
                value >>= 5;
                more = value != ((group & 16) != 0 ? -1 : 0);
                string.append((char) ('0' + (more ? group | 32 : group)));
            }
        }
        return string.toString();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Rle rle
                && size.equals(rle.size)
                && Arrays.equals(counts, rle.counts);
    }

    @Override
    public int hashCode() {
        return 31 * size.hashCode() + Arrays.hashCode(counts);
    }

    @Override
    public String toString() {
        return "Rle[" + size + ", " + toCompressedString() + "]";
    }

    private void checkSameSize(Rle other) {
        if (!size.equals(other.size)) {
            throw SaccadeException.user(
                    "masks of one image must have one size, got %s and %s", size, other.size);
        }
    }

    private static int pixels(Size size) {
        if (size.height() < 0 || size.width() < 0 || size.area() > Integer.MAX_VALUE) {
            throw SaccadeException.user(
                    "a mask of %s is not possible: sides from 0 and at most %d pixels expected",
                    size, Integer.MAX_VALUE);
        }
        return (int) size.area();
    }

    /** Joins runs of one kind and checks that they cover the mask. */
    private static final class RunBuilder {

        private final Size size;
        private final int pixels;
        private int[] counts = new int[16];
        private int last;
        private long total;

        RunBuilder(Size size) {
            this.size = size;
            this.pixels = pixels(size);
        }

        /** Adds a run of a file, whose kind follows from its index. */
        void addChecked(long length, int index) {
            if (length < 0 || total + length > pixels) {
                throw SaccadeException.user(
                        "run %d of an RLE has length %d, but 0 to %d pixels of a mask of %s are"
                                + " left",
                        index, length, pixels - total, size);
            }
            add((int) length, index % 2 == 1);
        }

        void add(int length, boolean foreground) {
            if (length == 0) {
                return;
            }
            if (foreground != (last % 2 == 1)) {
                last++;
                if (last == counts.length) {
                    counts = Arrays.copyOf(counts, 2 * last);
                }
            }
            counts[last] += length;
            total += length;
        }

        Rle build() {
            if (total != pixels) {
                throw SaccadeException.user(
                        "the runs of an RLE cover %d pixels, but a mask of %s has %d",
                        total, size, pixels);
            }
            return new Rle(size, Arrays.copyOf(counts, last + 1));
        }
    }
}
