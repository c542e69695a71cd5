package dev.saccade.core.structures;

import dev.saccade.core.SaccadeException;

import java.util.Arrays;

/**
 * Rasterizes polygons exactly like pycocotools' {@code rleFrPoly}, which walks every edge on a grid
 * of fifths of a pixel. Only the steps across column centers are computed here.
 */
final class PolygonRasterizer {

    private static final int SCALE = 5;

    /** A step crosses a column center if it leaves this grid column (modulo 5). */
    private static final int CENTER = 2;

    /** Maximum absolute coordinate, beyond any image; limits the steps of an edge. */
    private static final double FARTHEST = 100_000;

    /** More than any outline needs; limits the memory that a small file can request. */
    private static final int MAX_CROSSINGS = 1 << 22;

    private final Size size;
    private final int lastColumn;
    private int[] crossings = new int[64];
    private int count;

    PolygonRasterizer(Size size) {
        this.size = size;
        this.lastColumn = SCALE * (int) Math.min(size.width() - 1, FARTHEST) + CENTER;
    }

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

    /** Returns ascending positions {@code column * height + row} at which the mask toggles. */
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

    /** Processes an edge from its left (or upper) end, so that both directions round alike. */
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

    /** Processes an edge on which every step advances one grid column. */
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

    /** Processes an edge with one grid row per step; searches for steps that change the column. */
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

    /** Returns the first column center at or after grid column {@code x}, inside the image. */
    private static int firstColumn(int x) {
        int from = Math.max(x, CENTER);
        return from + Math.floorMod(CENTER - from, SCALE);
    }

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
