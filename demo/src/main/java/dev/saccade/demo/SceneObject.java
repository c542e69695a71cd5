package dev.saccade.demo;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.structures.Contours;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.BitSet;

/**
 * One labeled thing of a scene, as far as it is visible.
 *
 * @param label position of its class in {@link Thing#CLASSES}
 * @param box tight around its visible pixels
 * @param area number of visible pixels
 * @param polygons {@code x1, y1, x2, y2, ...} along pixel edges; together they cover exactly the
 *     visible pixels
 */
record SceneObject(int label, Rle.Bounds box, int area, ImmutableList<ImmutableIntArray> polygons) {

    /** Returns the object with the given visible pixels, of which there is at least one. */
    static SceneObject trace(int label, BitSet mask, Size size) {
        byte[] bitmap = new byte[size.height() * size.width()];
        mask.stream().forEach(at -> bitmap[at] = 1);
        int left = Integer.MAX_VALUE;
        int right = 0;
        for (int at = mask.nextSetBit(0); at >= 0; at = mask.nextSetBit(at + 1)) {
            left = Math.min(left, at % size.width());
            right = Math.max(right, at % size.width());
        }
        int top = mask.nextSetBit(0) / size.width();
        int bottom = (mask.length() - 1) / size.width();
        return new SceneObject(
                label,
                new Rle.Bounds(left, top, right - left + 1, bottom - top + 1),
                mask.cardinality(),
                Contours.polygons(Rle.encode(size, bitmap)));
    }
}
