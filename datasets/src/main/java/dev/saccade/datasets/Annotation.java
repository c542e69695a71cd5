package dev.saccade.datasets;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.Sets;

import dev.saccade.core.structures.Rle;

import java.util.List;
import java.util.Set;

/**
 * One labeled object as in the annotation file, neither clipped nor dropped; see {@link
 * TrainingTargets}.
 *
 * @param id unique in the data set
 * @param label class index in {@link Dataset#classes}, or -1 for a class that is not selected
 * @param area area of the object in pixels; the area of its box if unknown
 */
public record Annotation(
        long id, int label, Bbox box, double area, Segmentation segmentation, Set<Flag> flags) {

    public enum Flag {
        /** A group of objects, COCO's {@code iscrowd}. */
        CROWD,
        /** Ignored in training. */
        IGNORE
    }

    /** A box in pixels, as COCO's {@code bbox}: left edge, top edge, width and height. */
    public record Bbox(double x, double y, double width, double height) {

        /** An unusable box: all values are NaN. */
        public static final Bbox NONE = new Bbox(Double.NaN, Double.NaN, Double.NaN, Double.NaN);

        public double area() {
            return width * height;
        }

        /** Rotates this box around its center, as CVAT does; returns the enclosing upright box. */
        public Bbox rotated(double degrees) {
            if (degrees % 180 == 0) {
                return this;
            }
            double cos = Math.abs(Math.cos(Math.toRadians(degrees)));
            double sin = Math.abs(Math.sin(Math.toRadians(degrees)));
            double across = width * cos + height * sin;
            double down = width * sin + height * cos;
            return new Bbox(x + (width - across) / 2, y + (height - down) / 2, across, down);
        }

        public boolean isFinite() {
            return Double.isFinite(x)
                    && Double.isFinite(y)
                    && Double.isFinite(width)
                    && Double.isFinite(height);
        }

        @Override
        public String toString() {
            return "[" + x + ", " + y + ", " + width + ", " + height + "]";
        }
    }

    public Annotation {
        flags = Sets.immutableEnumSet(flags);
    }

    public boolean crowd() {
        return flags.contains(Flag.CROWD);
    }

    public boolean ignore() {
        return flags.contains(Flag.IGNORE);
    }

    public Annotation with(long id, int label) {
        return new Annotation(id, label, box, area, segmentation, flags);
    }

    /** Creates an object without an outline; x and y are its left and top edge in pixels. */
    public static Annotation of(
            long id, int label, double x, double y, double width, double height) {
        Bbox box = new Bbox(x, y, width, height);
        return new Annotation(id, label, box, box.area(), new Segmentation.None(), Set.of());
    }

    /** Creates an object from a mask of the image's size, with the tightest box around the mask. */
    public static Annotation of(long id, int label, Rle mask) {
        Rle.Bounds bounds = mask.bounds();
        return new Annotation(
                id,
                label,
                new Bbox(bounds.x(), bounds.y(), bounds.width(), bounds.height()),
                mask.area(),
                new Segmentation.Runs(mask.size(), mask.toCompressedString()),
                Set.of());
    }

    /**
     * Creates an object from polygons; its box is the tightest around them.
     *
     * @param rings polygons, each {@code x0, y0, ...} in pixels; parts of one object, not holes
     * @throws IllegalArgumentException without polygons, or if one has fewer than three points
     */
    public static Annotation of(long id, int label, double[]... rings) {
        checkArgument(rings.length > 0, "annotation %s: has no polygon, expected at least one", id);
        double left = Double.POSITIVE_INFINITY;
        double top = Double.POSITIVE_INFINITY;
        double right = Double.NEGATIVE_INFINITY;
        double bottom = Double.NEGATIVE_INFINITY;
        double area = 0;
        for (double[] ring : rings) {
            checkArgument(
                    ring.length >= 6 && ring.length % 2 == 0,
                    "annotation %s: got a polygon of %s numbers, expected x and y of 3 or more"
                            + " points",
                    id,
                    ring.length);
            double twice = 0;
            for (int i = 0; i < ring.length; i += 2) {
                double x = ring[i];
                double y = ring[i + 1];
                twice += x * ring[(i + 3) % ring.length] - ring[(i + 2) % ring.length] * y;
                left = Math.min(left, x);
                right = Math.max(right, x);
                top = Math.min(top, y);
                bottom = Math.max(bottom, y);
            }
            area += Math.abs(twice) / 2;
        }
        return new Annotation(
                id,
                label,
                new Bbox(left, top, right - left, bottom - top),
                area,
                new Segmentation.Polygons(List.of(rings)),
                Set.of());
    }
}
