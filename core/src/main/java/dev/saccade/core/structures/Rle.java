package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.SaccadeException;

import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * An immutable binary mask as run lengths, with the semantics of pycocotools' {@code mask}.
 *
 * <p>The runs go down the columns, from left to right, and alternate between background and
 * foreground. Only the first run, background, may be empty, so equal masks have equal runs.
 *
 * <p>Input that does not describe a mask of the given size ends in a {@link SaccadeException} of
 * kind user. Masks have sides of at most 2^20 and at most 2^31 - 1 pixels.
 */
public final class Rle {

    /** The width of a boundary over the diagonal of the image. */
    private static final double BOUNDARY = 0.02;

    private final Size size;
    private final int[] counts;

    /** Keeps the array: runs that are canonical and cover the mask. */
    Rle(Size size, int[] counts) {
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

    /** Receives the stretches of the foreground. */
    @FunctionalInterface
    public interface ColumnRunVisitor {

        /** Takes the rows from {@code top} to before {@code bottom} of column {@code x}. */
        void visit(int x, int top, int bottom);
    }

    /** Combines what two masks say about a pixel. */
    private interface Combination {
        boolean of(boolean first, boolean second);
    }

    /** Returns a mask without foreground. */
    public static Rle empty(Size size) {
        return new Rle(size, new int[] {RunBuilder.pixels(size)});
    }

    /**
     * Returns the mask of a bitmap.
     *
     * @param size height and width of the bitmap
     * @param bitmap {@code [H, W]}, row by row; foreground where not 0
     */
    public static Rle encode(Size size, byte[] bitmap) {
        int pixels = RunBuilder.pixels(size);
        checkArgument(
                bitmap.length == pixels,
                "bitmap: got %s bytes for a mask of %s",
                bitmap.length,
                size);
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
        return CompressedRuns.read(size, string);
    }

    /**
     * Returns the union of polygons, rasterized as {@code rleFrPoly} does: the boundary is walked
     * on a grid of fifths of a pixel and every crossing of a pixel column toggles the mask below.
     *
     * @param polygons corners {@code x0, y0, x1, y1, ...} in continuous pixel coordinates; parts
     *     outside the image are cut off
     * @throws SaccadeException if a polygon has less than 3 corners, half a corner, a coordinate
     *     that is not finite or absurdly far away, or an absurdly long boundary
     */
    public static Rle fromPolygons(Size size, List<double[]> polygons) {
        return merge(
                polygons.stream().map(polygon -> fromPolygon(size, polygon)),
                (in, also) -> in || also);
    }

    /** Returns a polygon as a mask; see {@link #fromPolygons}. */
    public static Rle fromPolygon(Size size, double... polygon) {
        if (polygon.length < 6 || polygon.length % 2 != 0) {
            throw SaccadeException.user(
                    "polygon: got %d coordinates, expected an even number of at least 6",
                    polygon.length);
        }
        return new PolygonRasterizer(size).mask(polygon);
    }

    /** Returns a box as a mask: the polygon of its corners. */
    public static Rle fromBox(Size size, double x, double y, double width, double height) {
        return fromPolygon(size, x, y, x, y + height, x + width, y + height, x + width, y);
    }

    /** Returns the pixels that are in any of the masks, which must have one size. */
    public static Rle union(List<Rle> masks) {
        return merge(masks.stream(), (in, also) -> in || also);
    }

    /** Returns the pixels that are in all of the masks, which must have one size. */
    public static Rle intersection(List<Rle> masks) {
        return merge(masks.stream(), (in, also) -> in && also);
    }

    private static Rle merge(Stream<Rle> masks, Combination combination) {
        return masks.reduce((a, b) -> a.merge(b, combination))
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "masks: got none, expected at" + " least one"));
    }

    /** Returns the pixels that are in this mask, but not in another one of its size. */
    public Rle minus(Rle other) {
        return merge(other, (in, also) -> in && !also);
    }

    private Rle merge(Rle other, Combination combination) {
        checkSameSize(other);
        RunBuilder runs = new RunBuilder(size);
        for (RunOverlay overlay = new RunOverlay(counts, other.counts); overlay.next(); ) {
            runs.add(overlay.length(), combination.of(overlay.inFirst(), overlay.inSecond()));
        }
        return runs.build();
    }

    /**
     * Returns a part of the mask.
     *
     * @param top the first row
     * @param left the first column
     * @param part the size of the part, which must lie within the mask
     */
    public Rle crop(int top, int left, Size part) {
        checkWithin(part, top, left, size);
        return columns().crop(top, left, part);
    }

    /**
     * Returns the mask at another size, bit for bit what OpenCV's {@code INTER_NEAREST} makes of
     * its bitmap: pixel {@code d} is that at {@code floor(d * old / new)}.
     *
     * @param target at least one pixel if the mask has any, none if it has none
     */
    public Rle resize(Size target) {
        checkArgument(
                (size.area() == 0) == (target.area() == 0),
                "cannot resize a mask of %s to" + " %s",
                size,
                target);
        return size.area() == 0 ? empty(target) : columns().resize(target);
    }

    /** Returns the mask mirrored left to right. */
    public Rle flipHorizontal() {
        return columns().flipHorizontal();
    }

    /** Returns the mask mirrored top to bottom. */
    public Rle flipVertical() {
        Rle mirrored = flipHorizontal();
        RunBuilder turned = new RunBuilder(size);
        for (int i = mirrored.counts.length - 1; i >= 0; i--) {
            turned.add(mirrored.counts[i], i % 2 == 1);
        }
        return turned.build();
    }

    /** Returns the mask with background added below and to the right. */
    public Rle pad(Size padded) {
        return place(0, 0, padded);
    }

    /**
     * Returns the mask as a part of a larger one, with background around it.
     *
     * @param top the row of the larger one that its first row becomes
     * @param left the column of the larger one that its first column becomes
     * @param whole the size of the larger one, in which it must lie
     */
    public Rle place(int top, int left, Size whole) {
        checkWithin(size, top, left, whole);
        return columns().place(top, left, whole);
    }

    private static void checkWithin(Size part, int top, int left, Size whole) {
        checkArgument(
                top >= 0
                        && left >= 0
                        && part.height() <= whole.height() - top
                        && part.width() <= whole.width() - left,
                "a mask of %s at row %s, column %s exceeds a mask of %s",
                part,
                top,
                left,
                whole);
    }

    private ColumnRuns columns() {
        return new ColumnRuns(size, counts);
    }

    /** Returns the boundary that Boundary IoU is measured on: 2 % of the diagonal wide. */
    public Rle boundary() {
        return boundary(BOUNDARY);
    }

    /**
     * Returns the foreground near its outline (Cheng et al. 2021, Boundary IoU), equal to the
     * original's {@code mask_to_boundary}: what an erosion by squares takes away. The border of the
     * image is outline where the foreground reaches it.
     *
     * @param ratio the width of the boundary over the diagonal of the image, rounded to at least
     *     one pixel
     */
    public Rle boundary(double ratio) {
        checkArgument(ratio >= 0, "ratio: got %s, expected at least 0", ratio);
        double diagonal =
                Math.sqrt(
                        (double) size.height() * size.height()
                                + (double) size.width() * size.width());
        int distance = (int) Math.max(1, Math.rint(ratio * diagonal));
        return merge(eroded(distance), (in, inside) -> in && !inside);
    }

    /** Returns the centers of the squares of {@code 2 * distance + 1} pixels in the foreground. */
    private Rle eroded(int distance) {
        long edge = 2L * distance + 1;
        if (edge > Math.min(size.height(), size.width())) {
            return empty(size);
        }
        // Each column becomes the intersection of itself and the next ones: 2, 4, 8, ... of them.
        Rle rows = columns().erodeRows(distance);
        for (int covered = 1; covered < edge; ) {
            int step = (int) Math.min(covered, edge - covered);
            rows = rows.merge(rows.columns().place(0, -step, size), (in, also) -> in && also);
            covered += step;
        }
        return rows.columns().place(0, distance, size);
    }

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
            int firstRow = start - firstColumn * size.height();
            left = Math.min(left, firstColumn);
            right = lastColumn;
            top = Math.min(top, oneColumn ? firstRow : 0);
            bottom = Math.max(bottom, oneColumn ? firstRow + last - start : size.height() - 1);
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
        long intersection = RunOverlay.shared(counts, object.counts);
        long union = crowd ? area() : (long) area() + object.area() - intersection;
        return intersection == 0 ? 0 : (double) intersection / union;
    }

    /** Returns the bitmap: {@code [H, W]}, row by row, 1 in the foreground and 0 elsewhere. */
    public byte[] decode() {
        return fill(new byte[RunBuilder.pixels(size)], (byte) 1);
    }

    private byte[] fill(byte[] bitmap, byte value) {
        forEachColumnRun(
                (x, top, bottom) -> {
                    for (int y = top; y < bottom; y++) {
                        bitmap[y * size.width() + x] = value;
                    }
                });
        return bitmap;
    }

    /** Returns the bitmap as a picture of its size: 255 in the foreground and 0 elsewhere, gray. */
    public BufferedImage toImage() {
        BufferedImage image =
                new BufferedImage(size.width(), size.height(), BufferedImage.TYPE_BYTE_GRAY);
        fill(((DataBufferByte) image.getRaster().getDataBuffer()).getData(), (byte) 255);
        return image;
    }

    /** Visits the foreground from left to right and top to bottom. */
    public void forEachColumnRun(ColumnRunVisitor visitor) {
        columns().forEach(visitor);
    }

    /**
     * Returns polygons along the edges of the pixels, clockwise on the screen; {@link
     * #fromPolygons} restores the mask. COCO's polygons have no holes: a mask with a hole is cut
     * into parts that touch each other.
     */
    public List<double[]> toPolygons() {
        return Contours.polygons(this).stream()
                .map(polygon -> polygon.stream().asDoubleStream().toArray())
                .toList();
    }

    /** Returns COCO's compressed string; {@link #fromString} reads it. */
    public String toCompressedString() {
        return CompressedRuns.write(counts);
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
                    "got masks of %s and %s for one image, expected equal sizes", size, other.size);
        }
    }
}
