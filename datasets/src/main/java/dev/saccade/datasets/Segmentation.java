package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.List;

/** The outline of an object in one of COCO's encodings. */
public sealed interface Segmentation {

    /** Rasterizes the outline to a mask of the image's size; throws if the outline is invalid. */
    Rle mask(Size image);

    record None() implements Segmentation {

        @Override
        public Rle mask(Size image) {
            return Rle.empty(image);
        }
    }

    /** The union of polygons, each {@code x0, y0, x1, y1, ...} in pixels as in the file. */
    record Polygons(List<double[]> rings) implements Segmentation {

        public Polygons {
            rings = List.copyOf(rings);
        }

        @Override
        public Rle mask(Size image) {
            return Rle.fromPolygons(image, rings);
        }
    }

    /** Column-wise run lengths in pycocotools' compressed form; not validated. */
    record Runs(Size size, String counts) implements Segmentation {

        @Override
        public Rle mask(Size image) {
            if (!size.equals(image)) {
                throw SaccadeException.user(
                        "run lengths encode a mask of %s, but the image is %s",
                        size.widthFirst(), image.widthFirst());
            }
            return Rle.fromString(size, counts);
        }

        /** Compresses run lengths as pycocotools does: differences in groups of five bits. */
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
