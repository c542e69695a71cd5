package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.List;

/** The outline of an object in one of the encodings of COCO. */
public sealed interface Segmentation {

    /**
     * Returns the pixels of the object.
     *
     * @param image the size of the photograph as declared
     * @throws SaccadeException if the outline describes no mask of that size; says why
     */
    Rle mask(Size image);

    /** No outline: no pixel. */
    record None() implements Segmentation {

        @Override
        public Rle mask(Size image) {
            return Rle.empty(image);
        }
    }

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

        @Override
        public Rle mask(Size image) {
            return Rle.fromPolygons(image, rings);
        }
    }

    /**
     * Run lengths over the columns in pycocotools' compressed form, not checked; runs that stand as
     * numbers in the file are compressed when it is read.
     *
     * @param size the size of the mask
     * @param counts the compressed string
     */
    record Runs(Size size, String counts) implements Segmentation {

        @Override
        public Rle mask(Size image) {
            if (!size.equals(image)) {
                throw SaccadeException.user(
                        "run lengths of a mask of %s in an image of %s",
                        size.widthFirst(), image.widthFirst());
            }
            return Rle.fromString(size, counts);
        }

        /**
         * Returns run lengths in pycocotools' compressed form: differences in groups of five bits.
         */
        public static String compress(double... counts) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < counts.length; i++) {
                long rest = (long) (i > 2 ? counts[i] - counts[i - 2] : counts[i]);
                boolean more = true;
                while (more) {
                    int group = (int) (rest & 0x1F);
                    rest >>= 5;
                    more = (group & 0x10) == 0 ? rest != 0 : rest != -1;
                    text.append((char) ((more ? group | 0x20 : group) + 48));
                }
            }
            return text.toString();
        }
    }
}
