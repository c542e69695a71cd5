package dev.saccade.datasets;

import dev.saccade.core.structures.Size;

import java.util.List;

/** The outline of an object in one of the encodings of COCO. */
public sealed interface Segmentation {

    /** No outline. */
    record None() implements Segmentation {}

    /**
     * The union of polygons.
     *
     * @param rings {@code x0, y0, x1, y1, ...} in pixels each, as they stand in the file
     */
    record Polygons(List<double[]> rings) implements Segmentation {

        /** Keeps a copy of the list. */
        public Polygons {
            rings = List.copyOf(rings);
        }
    }

    /**
     * Run lengths over the columns in pycocotools' compressed form, not checked; runs that stand as
     * numbers in the file are compressed when it is read.
     *
     * @param size the size of the mask
     * @param counts the compressed string
     */
    record Runs(Size size, String counts) implements Segmentation {}
}
