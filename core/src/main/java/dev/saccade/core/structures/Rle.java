package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.SaccadeException;

import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Immutable run-length encoded binary mask, compatible with pycocotools' {@code mask}.
 *
 * <p>Runs are column-major and alternate between background and foreground. Only the first run
 * (background) may have length 0, so equal masks have equal runs. Sides are at most 2^20, and masks
 * have at most 2^31 - 1 pixels.
 *
 * <p>Invalid encodings, polygons and sizes throw a {@link SaccadeException} of kind user.
 */
public final class Rle {

    /** Default width of the boundary, relative to the image diagonal. */
    private static final double BOUNDARY = 0.02;

    private final Size size;
    private final int[] counts;

    /** Wraps canonical runs that cover the mask. */
    Rle(Size size, int[] counts) {
        this.size = size;
        this.counts = counts;
    }

    /** Bounding box in whole pixels; width and height are 0 for an empty mask. */
    public record Bounds(int x, int y, int width, int height) {}

    @FunctionalInterface
    public interface ColumnRunVisitor {

        /** Visits the rows {@code top} to {@code bottom - 1} of a column. */
        void visit(int x, int top, int bottom);
    }

    private interface Combination {
        boolean of(boolean first, boolean second);
    }

    public static Rle empty(Size size) {
        return new Rle(size, new int[] {RunBuilder.pixels(size)});
    }

    /** Encodes a row-major bitmap {@code [H, W]}; nonzero values are foreground. */
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

    /** Decodes COCO's uncompressed RLE; runs start with background and must cover the mask. */
    public static Rle fromCounts(Size size, int... counts) {
        RunBuilder runs = new RunBuilder(size);
        for (int i = 0; i < counts.length; i++) {
            runs.addChecked(counts[i], i);
        }
        return runs.build();
    }

    /**
     * Decodes COCO's compressed RLE. Numbers have 5 bits per character, low bits first. From the
     * fourth run on, they are differences from the run two positions before.
     */
    public static Rle fromString(Size size, String string) {
        return CompressedRuns.read(size, string);
    }

    /**
     * Returns the union of polygons, rasterized exactly like pycocotools' {@code rleFrPoly}.
     *
     * @param polygons at least 3 corners {@code x0, y0, x1, y1, ...} each, in continuous pixel
     *     coordinates; clipped to the image
     */
    public static Rle fromPolygons(Size size, List<double[]> polygons) {
        return merge(
                polygons.stream().map(polygon -> fromPolygon(size, polygon)),
                (in, also) -> in || also);
    }

    /** Rasterizes a polygon; see {@link #fromPolygons}. */
    public static Rle fromPolygon(Size size, double... polygon) {
        if (polygon.length < 6 || polygon.length % 2 != 0) {
            throw SaccadeException.user(
                    "polygon: got %d coordinates, expected an even number of at least 6",
                    polygon.length);
        }
        return new PolygonRasterizer(size).mask(polygon);
    }

    /** Rasterizes a box as the polygon of its corners. */
    public static Rle fromBox(Size size, double x, double y, double width, double height) {
        return fromPolygon(size, x, y, x, y + height, x + width, y + height, x + width, y);
    }

    /** Returns the union of masks of the same size. */
    public static Rle union(List<Rle> masks) {
        return merge(masks.stream(), (in, also) -> in || also);
    }

    /** Returns the intersection of masks of the same size. */
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

    /** Returns the pixels of this mask that are not in another mask of the same size. */
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

    /** Returns a crop, which must be inside the mask. */
    public Rle crop(int top, int left, Size part) {
        checkWithin(part, top, left, size);
        return columns().crop(top, left, part);
    }

    /** Resizes like OpenCV's {@code INTER_NEAREST}: pixel d copies {@code floor(d * old / new)}. */
    public Rle resize(Size target) {
        checkArgument(
                (size.area() == 0) == (target.area() == 0),
                "cannot resize a mask of %s to" + " %s",
                size,
                target);
        if (target.equals(size)) {
            return this;
        }
        return size.area() == 0 ? empty(target) : columns().resize(target);
    }

    public Rle flipHorizontal() {
        return columns().flipHorizontal();
    }

    public Rle flipVertical() {
        Rle mirrored = flipHorizontal();
        RunBuilder runs = new RunBuilder(size);
        for (int i = mirrored.counts.length - 1; i >= 0; i--) {
            runs.add(mirrored.counts[i], i % 2 == 1);
        }
        return runs.build();
    }

    /** Swaps rows and columns. */
    public Rle transpose() {
        Bounds box = bounds();
        Size whole = new Size(size.width(), size.height());
        byte[] bitmap = crop(box).decode();
        RunBuilder runs = new RunBuilder(whole);
        for (int y = 0, i = 0; y < box.height; y++) {
            int start = (box.y + y) * size.width() + box.x;
            for (int x = 0; x < box.width; x++, i++) {
                boolean foreground = bitmap[i] != 0;
                if (foreground != (x > 0 && bitmap[i - 1] != 0)) {
                    runs.fill(start + x, !foreground);
                }
            }
            runs.fill(start + box.width, box.width > 0 && bitmap[i - 1] != 0);
        }
        runs.fill(RunBuilder.pixels(whole), false);
        return runs.build();
    }

    private Rle crop(Bounds box) {
        return crop(box.y, box.x, new Size(box.height, box.width));
    }

    /**
     * Warps like OpenCV's {@code warpPerspective} with {@code INTER_NEAREST}.
     *
     * @param map from pixel centers of this mask to pixel centers of the result
     */
    public Rle warp(Affine map, Size target) {
        Bounds box = bounds();
        return new RleWarp(crop(box).decode(), box, map).to(target);
    }

    /** Pads the bottom and right with background. */
    public Rle pad(Size padded) {
        return place(0, 0, padded);
    }

    /** Places the mask in a larger one, which must contain it; the rest is background. */
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

    /** Returns the boundary used by Boundary IoU: 2 % of the image diagonal wide. */
    public Rle boundary() {
        return boundary(BOUNDARY);
    }

    /**
     * Returns the boundary of the foreground (Cheng et al. 2021, Boundary IoU), equal to {@code
     * mask_to_boundary} of the official code. Foreground at the image border counts as boundary.
     * The width is {@code ratio} times the image diagonal, at least one pixel.
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

    /** Erodes with a square of side {@code 2 * distance + 1}; the outside is background. */
    private Rle eroded(int distance) {
        long edge = 2L * distance + 1;
        if (edge > Math.min(size.height(), size.width())) {
            return empty(size);
        }
        // Intersects each column with the following ones, doubling the covered range each time.
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

    public int area() {
        int area = 0;
        for (int i = 1; i < counts.length; i += 2) {
            area += counts[i];
        }
        return area;
    }

    /** Returns the bounding box; all zeros for an empty mask. */
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
     * Returns the IoU with a ground truth mask; 0 if the intersection is empty. For a crowd, the
     * intersection is divided by the area of this mask, as in COCO.
     */
    public double iou(Rle object, boolean crowd) {
        checkSameSize(object);
        long intersection = RunOverlay.shared(counts, object.counts);
        long union = crowd ? area() : (long) area() + object.area() - intersection;
        return intersection == 0 ? 0 : (double) intersection / union;
    }

    /** Returns the bitmap {@code [H, W]}, row-major: 1 for foreground, 0 for background. */
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

    /** Returns a grayscale image: 255 for foreground, 0 for background. */
    public BufferedImage toImage() {
        BufferedImage image =
                new BufferedImage(size.width(), size.height(), BufferedImage.TYPE_BYTE_GRAY);
        fill(((DataBufferByte) image.getRaster().getDataBuffer()).getData(), (byte) 255);
        return image;
    }

    /** Visits the foreground column by column, left to right and top to bottom. */
    public void forEachColumnRun(ColumnRunVisitor visitor) {
        columns().forEach(visitor);
    }

    /**
     * Returns polygons along pixel edges, from which {@link #fromPolygons} restores the mask
     * exactly. Masks with holes are split, because COCO's polygons have no holes.
     */
    public List<double[]> toPolygons() {
        return Contours.polygons(this).stream()
                .map(polygon -> polygon.stream().asDoubleStream().toArray())
                .toList();
    }

    /** Encodes as COCO's compressed RLE, the inverse of {@link #fromString}. */
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
