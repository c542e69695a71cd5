package dev.saccade.datasets;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.Sets;

import dev.saccade.core.structures.Rle;

import java.util.List;
import java.util.Set;

/**
 * One labeled object as it stands in the annotation file: nothing is clipped or dropped, see {@link
 * TrainingTargets} for what a detector is trained on.
 *
 * @param id unique in the data set
 * @param label position of its class in {@link Dataset#classes}, or -1 for a class that is not
 *     wanted
 * @param box where it is
 * @param area pixels of the object itself, not of its box
 * @param segmentation its outline
 * @param flags what is special about it
 */
public record Annotation(
        long id, int label, Bbox box, double area, Segmentation segmentation, Set<Flag> flags) {

    /** What is special about an object. */
    public enum Flag {
        /** It is a group that was not separated, COCO's {@code iscrowd}. */
        CROWD,
        /** Training should pass over it. */
        IGNORE
    }

    /**
     * Where an object is, as COCO's {@code bbox} says it.
     *
     * @param x left edge in pixels
     * @param y top edge in pixels
     * @param width in pixels
     * @param height in pixels
     */
    public record Bbox(double x, double y, double width, double height) {

        /** What stands for a box that cannot be used: no number is one. */
        public static final Bbox NONE = new Bbox(Double.NaN, Double.NaN, Double.NaN, Double.NaN);

        /** Returns width times height. */
        public double area() {
            return width * height;
        }

        /** Returns the box around this box rotated around its center, as CVAT's rotation means. */
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

        /** Returns whether all four are numbers. */
        public boolean isFinite() {
            return Double.isFinite(x)
                    && Double.isFinite(y)
                    && Double.isFinite(width)
                    && Double.isFinite(height);
        }

        /** Returns {@code [x, y, width, height]}. */
        @Override
        public String toString() {
            return "[" + x + ", " + y + ", " + width + ", " + height + "]";
        }
    }

    /** Keeps a copy of the flags. */
    public Annotation {
        flags = Sets.immutableEnumSet(flags);
    }

    /** Returns whether it flags a group that was not separated. */
    public boolean crowd() {
        return flags.contains(Flag.CROWD);
    }

    /** Returns whether training should pass over it. */
    public boolean ignore() {
        return flags.contains(Flag.IGNORE);
    }

    /** Returns it with another id and label. */
    public Annotation with(long id, int label) {
        return new Annotation(id, label, box, area, segmentation, flags);
    }

    /**
     * Returns an object of which the box is known.
     *
     * @param x left edge in pixels
     * @param y top edge in pixels
     */
    public static Annotation of(
            long id, int label, double x, double y, double width, double height) {
        Bbox box = new Bbox(x, y, width, height);
        return new Annotation(id, label, box, box.area(), new Segmentation.None(), Set.of());
    }

    /**
     * Returns an object of which the mask is known; its box is the smallest around it.
     *
     * @param mask of the size of the photograph
     */
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
     * Returns an object of which the outline is known; its box is the smallest around it.
     *
     * @param rings {@code x0, y0, x1, y1, ...} in pixels each; parts of one object, not holes
     * @throws IllegalArgumentException if there is no ring, or one that is not three points or more
     */
    public static Annotation of(long id, int label, double[]... rings) {
        checkArgument(rings.length > 0, "annotation %s: an outline without a ring", id);
        double left = Double.POSITIVE_INFINITY;
        double top = Double.POSITIVE_INFINITY;
        double right = Double.NEGATIVE_INFINITY;
        double bottom = Double.NEGATIVE_INFINITY;
        double area = 0;
        for (double[] ring : rings) {
            checkArgument(
                    ring.length >= 6 && ring.length % 2 == 0,
                    "annotation %s: a ring of %s numbers, expected x and y of three points or more",
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
