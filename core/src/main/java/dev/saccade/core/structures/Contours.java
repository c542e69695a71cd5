package dev.saccade.core.structures;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableIntArray;

import java.util.BitSet;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Outlines of a mask as closed polygons along pixel edges. */
public final class Contours {

    private static final int[] STEP_X = {1, 0, -1, 0};
    private static final int[] STEP_Y = {0, 1, 0, -1};

    private final Rle.Bounds bounds;
    private final byte[] bitmap;
    private final BitSet walked = new BitSet();

    private Contours(Rle mask) {
        this.bounds = mask.bounds();
        Size part = new Size(bounds.height(), bounds.width());
        this.bitmap =
                bounds.width() == 0
                        ? new byte[0]
                        : mask.crop(bounds.y(), bounds.x(), part).decode();
    }

    /**
     * Returns polygons {@code x0, y0, x1, y1, ...} with alternating horizontal and vertical sides.
     *
     * <p>Outer contours run clockwise on the screen, holes counterclockwise. Pixels that touch only
     * at a corner are not connected. An empty mask has no polygons.
     */
    public static ImmutableList<ImmutableIntArray> trace(Rle mask) {
        return new Contours(mask).walkAll();
    }

    /** Returns polygons that cover exactly the mask, which is cut at the middle of each hole. */
    public static ImmutableList<ImmutableIntArray> polygons(Rle mask) {
        ImmutableList.Builder<ImmutableIntArray> polygons = ImmutableList.builder();
        addPolygons(mask, polygons);
        return polygons.build();
    }

    private static void addPolygons(Rle mask, ImmutableList.Builder<ImmutableIntArray> polygons) {
        List<ImmutableIntArray> contours = trace(mask);
        Optional<ImmutableIntArray> hole =
                contours.stream().filter(contour -> twiceArea(contour) < 0).findFirst();
        if (hole.isEmpty()) {
            polygons.addAll(contours);
            return;
        }
        Size size = mask.size();
        int cut = middleColumn(hole.get());
        Size left = new Size(size.height(), cut);
        Size right = new Size(size.height(), size.width() - cut);
        addPolygons(mask.crop(0, 0, left).place(0, 0, size), polygons);
        addPolygons(mask.crop(0, cut, right).place(0, cut, size), polygons);
    }

    private static int middleColumn(ImmutableIntArray contour) {
        IntSummaryStatistics columns =
                IntStream.range(0, contour.length() / 2)
                        .map(i -> contour.get(2 * i))
                        .summaryStatistics();
        return (columns.getMin() + columns.getMax()) / 2;
    }

    /** Returns twice the signed area; negative for a hole. */
    private static long twiceArea(ImmutableIntArray contour) {
        long sum = 0;
        for (int i = 0; i < contour.length(); i += 2) {
            int next = (i + 2) % contour.length();
            sum += (long) contour.get(i) * contour.get(next + 1);
            sum -= (long) contour.get(next) * contour.get(i + 1);
        }
        return sum;
    }

    private ImmutableList<ImmutableIntArray> walkAll() {
        ImmutableList.Builder<ImmutableIntArray> contours = ImmutableList.builder();
        for (int at = 0; at < bitmap.length; at++) {
            int x = at % bounds.width();
            int y = at / bounds.width();
            for (int direction = 0; direction < 4; direction++) {
                int startX = x + (direction == 1 || direction == 2 ? 1 : 0);
                int startY = y + (direction >= 2 ? 1 : 0);
                if (isEdge(startX, startY, direction)
                        && !walked.get(key(startX, startY, direction))) {
                    contours.add(walk(startX, startY, direction));
                }
            }
        }
        return contours.build();
    }

    /** Follows an edge with the foreground on the right and collects the corners. */
    private ImmutableIntArray walk(int startX, int startY, int startDirection) {
        ImmutableIntArray.Builder corners = ImmutableIntArray.builder();
        int x = startX;
        int y = startY;
        int direction = startDirection;
        while (!walked.get(key(x, y, direction))) {
            walked.set(key(x, y, direction));
            x += STEP_X[direction];
            y += STEP_Y[direction];
            int next = (direction + 1) % 4;
            while (!isEdge(x, y, next)) {
                next = (next + 3) % 4;
            }
            if (next != direction) {
                corners.add(x + bounds.x());
                corners.add(y + bounds.y());
            }
            direction = next;
        }
        return corners.build();
    }

    /** Returns whether a step has foreground on its right and background on its left. */
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
        return x >= 0
                && x < bounds.width()
                && y >= 0
                && y < bounds.height()
                && bitmap[y * bounds.width() + x] != 0;
    }

    private int key(int x, int y, int direction) {
        return 4 * (y * (bounds.width() + 1) + x) + direction;
    }
}
