package dev.saccade.datasets;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.structures.Rle;

import java.util.List;

/**
 * One labelled object as it stands in the annotation file: nothing is clipped or dropped, see
 * {@link TrainingTargets} for what a detector is trained on.
 *
 * @param id unique in the data set
 * @param label position of its class in {@link Dataset#classes}, or -1 for a class that is not
 *     wanted
 * @param x left edge in pixels
 * @param y top edge in pixels
 * @param width in pixels
 * @param height in pixels
 * @param area pixels of the object itself, not of its box
 * @param crowd whether it marks a group that was not separated
 * @param ignore whether training should pass over it
 * @param segmentation its outline
 */
public record Annotation(
        long id,
        int label,
        double x,
        double y,
        double width,
        double height,
        double area,
        boolean crowd,
        boolean ignore,
        Segmentation segmentation) {

    /**
     * Returns an object of which the box is known.
     *
     * @param x left edge in pixels
     * @param y top edge in pixels
     */
    public static Annotation of(
            long id, int label, double x, double y, double width, double height) {
        return new Annotation(
                id,
                label,
                x,
                y,
                width,
                height,
                width * height,
                false,
                false,
                new Segmentation.None());
    }

    /**
     * Returns an object of which the mask is known; its box is the smallest around it.
     *
     * @param mask of the size of the photograph
     */
    public static Annotation of(long id, int label, Rle mask) {
        Rle.Bounds box = mask.bounds();
        return new Annotation(
                id,
                label,
                box.x(),
                box.y(),
                box.width(),
                box.height(),
                mask.area(),
                false,
                false,
                new Segmentation.Runs(mask.size(), mask.toCompressedString()));
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
                left,
                top,
                right - left,
                bottom - top,
                area,
                false,
                false,
                new Segmentation.Polygons(List.of(rings)));
    }
}
