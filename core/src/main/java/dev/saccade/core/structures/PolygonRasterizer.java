package dev.saccade.core.structures;

import dev.saccade.core.SaccadeException;

import java.util.Arrays;

/**
 * Finds where the boundary of a polygon crosses the pixel columns of an image, exactly as
 * pycocotools' {@code rleFrPoly}, which walks every edge in steps of a fifth of a pixel; of those
 * steps only the ones across the center of a column are taken here.
 */
final class PolygonRasterizer {

    private static final int SCALE = 5;

    /** Of the steps from one grid column to the next, those from this one on (mod 5) count. */
    private static final int CENTER = 2;

    /** Further away than any image reaches; bounds the steps of an edge. */
    private static final double FARTHEST = 100_000;

    /** More than any outline has; bounds what a file of some bytes can ask for. */
    private static final int MAX_CROSSINGS = 1 << 22;

    private final Size size;
    private final int lastColumn;
    private int[] crossings = new int[64];
    private int count;

    PolygonRasterizer(Size size) {
        this.size = size;
        this.lastColumn = SCALE * (int) Math.min(size.width() - 1, FARTHEST) + CENTER;
    }

    /** Returns the mask of a polygon. */
    Rle mask(double... polygon) {
        RunBuilder runs = new RunBuilder(size);
        boolean foreground = false;
        for (int crossing : crossings(polygon)) {
            runs.fill(crossing, foreground);
            foreground = !foreground;
        }
        runs.fill(RunBuilder.pixels(size), foreground);
        return runs.build();
    }

    /**
     * Returns the crossings as positions {@code column * height + row} in ascending order, each
     * from 0 to {@code height * width}.
     */
    int[] crossings(double... polygon) {
        int x = toGrid(polygon[polygon.length - 2]);
        int y = toGrid(polygon[polygon.length - 1]);
        for (int i = 0; i < polygon.length; i += 2) {
            int nextX = toGrid(polygon[i]);
            int nextY = toGrid(polygon[i + 1]);
            walk(x, y, nextX, nextY);
            x = nextX;
            y = nextY;
        }
        Arrays.sort(crossings, 0, count);
        return Arrays.copyOf(crossings, count);
    }

    private static int toGrid(double coordinate) {
        if (!(Math.abs(coordinate) <= FARTHEST)) {
            throw SaccadeException.user(
                    "polygon: got coordinate %s, expected at most %.0f pixels from 0",
                    coordinate, FARTHEST);
        }
        return (int) (SCALE * coordinate + .5);
    }

    /** Goes along one edge; always computed from its left (or upper) end to the other. */
    private void walk(int xs, int ys, int xe, int ye) {
        if (Math.abs(xe - xs) >= Math.abs(ye - ys)) {
            if (xs <= xe) {
                walkFlat(xs, ys, xe, ye);
            } else {
                walkFlat(xe, ye, xs, ys);
            }
        } else if (ys <= ye) {
            walkSteep(xs, ys, xe, ye);
        } else {
            walkSteep(xe, ye, xs, ys);
        }
    }

    /** Every step leads to the next grid column. */
    private void walkFlat(int x0, int y0, int x1, int y1) {
        double slope = (double) (y1 - y0) / (x1 - x0);
        int end = Math.min(x1 - 1, lastColumn);
        for (int column = firstColumn(x0); column <= end; column += SCALE) {
            int step = column - x0;
            int row = (int) (y0 + slope * step + .5);
            int nextRow = (int) (y0 + slope * (step + 1) + .5);
            cross(column, Math.min(row, nextRow));
        }
    }

    /** Every step leads to the next grid row; the one that changes the column is looked for. */
    private void walkSteep(int x0, int y0, int x1, int y1) {
        double slope = (double) (x1 - x0) / (y1 - y0);
        int end = Math.min(Math.max(x0, x1) - 1, lastColumn);
        for (int column = firstColumn(Math.min(x0, x1)); column <= end; column += SCALE) {
            int step = (int) Math.max((column + .5 - x0) / slope, 1);
            while (step > 1 && isPast(x0 + slope * (step - 1), column, slope)) {
                step--;
            }
            while (!isPast(x0 + slope * step, column, slope)) {
                step++;
            }
            cross(column, y0 + step - 1);
        }
    }

    private static boolean isPast(double x, int column, double slope) {
        return (int) (x + .5) > column == slope > 0;
    }

    /** Returns the first grid column that counts, from {@code x} on and within the image. */
    private static int firstColumn(int x) {
        int from = Math.max(x, CENTER);
        return from + Math.floorMod(CENTER - from, SCALE);
    }

    /** Records the crossing to the right of a grid column, which is the center of a column. */
    private void cross(int gridColumn, int gridRow) {
        double row = (gridRow + .5) / SCALE - .5;
        int clamped = (int) Math.ceil(Math.min(Math.max(row, 0), size.height()));
        if (count == MAX_CROSSINGS) {
            throw SaccadeException.user(
                    "polygon: crosses the pixel columns of an image of %s more than %d times;"
                            + " expected the outline of an object",
                    size, MAX_CROSSINGS);
        }
        if (count == crossings.length) {
            crossings = Arrays.copyOf(crossings, 2 * count);
        }
        crossings[count++] = gridColumn / SCALE * size.height() + clamped;
    }
}
