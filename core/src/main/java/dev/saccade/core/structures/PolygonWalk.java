package dev.saccade.core.structures;

import dev.saccade.core.SaccadeException;

import java.util.Arrays;

/**
 * Finds where the boundary of a polygon crosses the pixel columns of an image, exactly as
 * pycocotools' {@code rleFrPoly}: every edge is walked in steps of a fifth of a pixel.
 */
final class PolygonWalk {

    private static final double SCALE = 5;

    /** Further away than any image reaches; bounds the steps of an edge. */
    private static final double FARTHEST = 100_000;

    private final Size size;
    private int[] crossings = new int[64];
    private int count;
    private int u;
    private int v;
    private boolean started;

    PolygonWalk(Size size) {
        this.size = size;
    }

    /**
     * Returns the crossings as positions {@code column * height + row}, unsorted, each from 0 to
     * {@code height * width}.
     */
    int[] crossings(double[] polygon) {
        int corners = polygon.length / 2;
        for (int i = 0; i < corners; i++) {
            int next = (i + 1) % corners;
            walk(
                    toGrid(polygon[2 * i]),
                    toGrid(polygon[2 * i + 1]),
                    toGrid(polygon[2 * next]),
                    toGrid(polygon[2 * next + 1]));
        }
        return Arrays.copyOf(crossings, count);
    }

    private static int toGrid(double coordinate) {
        if (!(Math.abs(coordinate) <= FARTHEST)) {
            throw SaccadeException.user(
                    "polygon coordinate %s: expected a number within +-%.0f pixels",
                    coordinate, FARTHEST);
        }
        return (int) (SCALE * coordinate + .5);
    }

    /** Steps along one edge; always computed from its left (or upper) end to the other. */
    private void walk(int xs, int ys, int xe, int ye) {
        int dx = Math.abs(xe - xs);
        int dy = Math.abs(ye - ys);
        boolean flat = dx >= dy;
        boolean flip = flat ? xs > xe : ys > ye;
        int x0 = flip ? xe : xs;
        int y0 = flip ? ye : ys;
        int x1 = flip ? xs : xe;
        int y1 = flip ? ys : ye;
        double slope = flat ? (double) (y1 - y0) / dx : (double) (x1 - x0) / dy;
        int steps = flat ? dx : dy;
        for (int d = 0; d <= steps; d++) {
            int t = flip ? steps - d : d;
            if (flat) {
                step(x0 + t, (int) (y0 + slope * t + .5));
            } else {
                step((int) (x0 + slope * t + .5), y0 + t);
            }
        }
    }

    private void step(int nextU, int nextV) {
        if (started && nextU != u) {
            cross(nextU < u ? nextU : nextU - 1, Math.min(v, nextV));
        }
        u = nextU;
        v = nextV;
        started = true;
    }

    /** Records the crossing if the grid column is the centre of a column of the image. */
    private void cross(int gridColumn, int gridRow) {
        double column = (gridColumn + .5) / SCALE - .5;
        if (column != Math.floor(column) || column < 0 || column > size.width() - 1) {
            return;
        }
        double row = (gridRow + .5) / SCALE - .5;
        row = Math.ceil(Math.min(Math.max(row, 0), size.height()));
        if (count == crossings.length) {
            crossings = Arrays.copyOf(crossings, 2 * count);
        }
        crossings[count++] = (int) (column * size.height() + row);
    }
}
