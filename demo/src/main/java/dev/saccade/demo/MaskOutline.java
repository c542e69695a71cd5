package dev.saccade.demo;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.structures.Contours;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.BitSet;
import java.util.List;

/**
 * The polygons of a mask, along the edges of its pixels, so that they cover exactly its pixels.
 *
 * <p>COCO's polygons know no holes; a mask with a hole is cut in two through the hole, as often as
 * needed.
 */
final class MaskOutline {

    private MaskOutline() {}

    /**
     * Returns the polygons of a mask as {@code x1, y1, x2, y2, ...}, clockwise on the screen; none
     * for an empty mask.
     *
     * @param mask the set pixels, row by row
     */
    static ImmutableList<ImmutableIntArray> polygons(BitSet mask, Size size) {
        byte[] bitmap = new byte[size.height() * size.width()];
        mask.stream().forEach(at -> bitmap[at] = 1);
        ImmutableList.Builder<ImmutableIntArray> polygons = ImmutableList.builder();
        trace(Rle.encode(size, bitmap), 0, polygons);
        return polygons.build();
    }

    /**
     * Adds the polygons of a part of the mask.
     *
     * @param left the column at which the part begins
     */
    private static void trace(
            Rle part, int left, ImmutableList.Builder<ImmutableIntArray> polygons) {
        List<ImmutableIntArray> contours = Contours.trace(part);
        for (ImmutableIntArray contour : contours) {
            if (twiceArea(contour) < 0) {
                int height = part.size().height();
                int cut = middleColumn(contour);
                int rest = part.size().width() - cut;
                trace(part.crop(0, 0, new Size(height, cut)), left, polygons);
                trace(part.crop(0, cut, new Size(height, rest)), left + cut, polygons);
                return;
            }
        }
        contours.forEach(contour -> polygons.add(shifted(contour, left)));
    }

    private static ImmutableIntArray shifted(ImmutableIntArray contour, int columns) {
        ImmutableIntArray.Builder corners = ImmutableIntArray.builder(contour.length());
        for (int i = 0; i < contour.length(); i++) {
            corners.add(contour.get(i) + (i % 2 == 0 ? columns : 0));
        }
        return corners.build();
    }

    private static int middleColumn(ImmutableIntArray contour) {
        int low = Integer.MAX_VALUE;
        int high = Integer.MIN_VALUE;
        for (int i = 0; i < contour.length(); i += 2) {
            low = Math.min(low, contour.get(i));
            high = Math.max(high, contour.get(i));
        }
        return (low + high) / 2;
    }

    /** Returns twice the area inside, negative for the edge of a hole. */
    private static long twiceArea(ImmutableIntArray contour) {
        long sum = 0;
        for (int i = 0; i < contour.length(); i += 2) {
            int next = (i + 2) % contour.length();
            sum += (long) contour.get(i) * contour.get(next + 1);
            sum -= (long) contour.get(next) * contour.get(i + 1);
        }
        return sum;
    }
}
