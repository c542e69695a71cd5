package dev.saccade.cli.demo;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.structures.Size;

import java.util.BitSet;

/**
 * The polygons of a mask, along the edges of its pixels, so that they cover exactly its pixels.
 *
 * <p>COCO's polygons know no holes; a mask with a hole is cut in two through the hole, as often as
 * needed.
 */
final class MaskOutline {

    private static final int[] STEP_X = {1, 0, -1, 0};
    private static final int[] STEP_Y = {0, 1, 0, -1};

    private final BitSet mask;
    private final Size size;
    private final int firstColumn;
    private final int endColumn;
    private final BitSet seen = new BitSet();

    private MaskOutline(BitSet mask, Size size, int firstColumn, int endColumn) {
        this.mask = mask;
        this.size = size;
        this.firstColumn = firstColumn;
        this.endColumn = endColumn;
    }

    /**
     * Returns the polygons of a mask as {@code x1, y1, x2, y2, ...}, clockwise on the screen; none
     * for an empty mask.
     *
     * @param mask the set pixels, row by row
     */
    static ImmutableList<ImmutableIntArray> polygons(BitSet mask, Size size) {
        ImmutableList.Builder<ImmutableIntArray> polygons = ImmutableList.builder();
        new MaskOutline(mask, size, 0, size.width()).trace(polygons);
        return polygons.build();
    }

    private void trace(ImmutableList.Builder<ImmutableIntArray> polygons) {
        ImmutableList.Builder<ImmutableIntArray> loops = ImmutableList.builder();
        for (int at = mask.nextSetBit(0); at >= 0; at = mask.nextSetBit(at + 1)) {
            int x = at % size.width();
            int y = at / size.width();
            for (int direction = 0; direction < 4; direction++) {
                int startX = x + (direction == 1 || direction == 2 ? 1 : 0);
                int startY = y + (direction >= 2 ? 1 : 0);
                if (isEdge(startX, startY, direction)
                        && !seen.get(key(startX, startY, direction))) {
                    ImmutableIntArray loop = loop(startX, startY, direction);
                    if (twiceArea(loop) < 0) {
                        int cut = middleColumn(loop);
                        new MaskOutline(mask, size, firstColumn, cut).trace(polygons);
                        new MaskOutline(mask, size, cut, endColumn).trace(polygons);
                        return;
                    }
                    loops.add(loop);
                }
            }
        }
        polygons.addAll(loops.build());
    }

    /** Follows the edge with the mask at its right hand, and keeps the corners. */
    private ImmutableIntArray loop(int startX, int startY, int startDirection) {
        ImmutableIntArray.Builder corners = ImmutableIntArray.builder();
        int x = startX;
        int y = startY;
        int direction = startDirection;
        while (!seen.get(key(x, y, direction))) {
            seen.set(key(x, y, direction));
            x += STEP_X[direction];
            y += STEP_Y[direction];
            int next = (direction + 1) % 4;
            while (!isEdge(x, y, next)) {
                next = (next + 3) % 4;
            }
            if (next != direction) {
                corners.add(x);
                corners.add(y);
            }
            direction = next;
        }
        return corners.build();
    }

    /** Whether the pixel to the right of the step is in the mask and the one to the left is not. */
    private boolean isEdge(int x, int y, int direction) {
        boolean east = direction == 0;
        boolean west = direction == 2;
        int rightX = x - (direction == 1 || west ? 1 : 0);
        int rightY = y - (direction >= 2 ? 1 : 0);
        int leftX = rightX + (direction == 1 ? 1 : direction == 3 ? -1 : 0);
        int leftY = rightY + (east ? -1 : west ? 1 : 0);
        return isSet(rightX, rightY) && !isSet(leftX, leftY);
    }

    private boolean isSet(int x, int y) {
        return x >= firstColumn
                && x < endColumn
                && y >= 0
                && y < size.height()
                && mask.get(y * size.width() + x);
    }

    private int key(int x, int y, int direction) {
        return 4 * (y * (size.width() + 1) + x) + direction;
    }

    private static int middleColumn(ImmutableIntArray loop) {
        int low = Integer.MAX_VALUE;
        int high = Integer.MIN_VALUE;
        for (int i = 0; i < loop.length(); i += 2) {
            low = Math.min(low, loop.get(i));
            high = Math.max(high, loop.get(i));
        }
        return (low + high) / 2;
    }

    /** Returns twice the area inside, negative for the edge of a hole. */
    private static long twiceArea(ImmutableIntArray loop) {
        long sum = 0;
        for (int i = 0; i < loop.length(); i += 2) {
            int next = (i + 2) % loop.length();
            sum +=
                    (long) loop.get(i) * loop.get(next + 1)
                            - (long) loop.get(next) * loop.get(i + 1);
        }
        return sum;
    }
}
