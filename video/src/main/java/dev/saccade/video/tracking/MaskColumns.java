package dev.saccade.video.tracking;

import dev.saccade.core.structures.Rle;

import java.util.Arrays;

/** Runs of a mask by column, so that the IoU of shifted masks needs no copy. */
final class MaskColumns {

    private int[] tops = new int[64];
    private int[] bottoms = new int[64];

    /** First run of each column, then the number of runs. */
    private final int[] starts;

    private final int left;
    private final long area;
    private int runs;

    MaskColumns(Rle mask) {
        Rle.Bounds bounds = mask.bounds();
        left = bounds.x();
        starts = new int[bounds.width() + 1];
        mask.forEachColumnRun(this::add);
        starts[bounds.width()] = runs;
        for (int column = bounds.width() - 1; column > 0; column--) {
            // Columns without runs start where the next column starts.
            starts[column] = starts[column] == 0 ? starts[column + 1] : starts[column];
        }
        area = mask.area();
    }

    private void add(int x, int top, int bottom) {
        if (runs == tops.length) {
            tops = Arrays.copyOf(tops, 2 * runs);
            bottoms = Arrays.copyOf(bottoms, 2 * runs);
        }
        if (x > left && starts[x - left] == 0) {
            starts[x - left] = runs;
        }
        tops[runs] = top;
        bottoms[runs] = bottom;
        runs++;
    }

    boolean isEmpty() {
        return area == 0;
    }

    /** Returns the IoU of this mask, shifted by {@code (dx, dy)}, and another mask. */
    double iou(int dx, int dy, MaskColumns other) {
        int from = Math.max(left + dx, other.left);
        int to = Math.min(left + dx + starts.length, other.left + other.starts.length) - 1;
        long shared = 0;
        for (int x = from; x < to; x++) {
            shared += sharedPixels(x - left - dx, dy, other, x - other.left);
        }
        long union = area + other.area - shared;
        return union == 0 ? 0 : (double) shared / union;
    }

    private long sharedPixels(int column, int dy, MaskColumns other, int otherColumn) {
        long shared = 0;
        int i = starts[column];
        int j = other.starts[otherColumn];
        while (i < starts[column + 1] && j < other.starts[otherColumn + 1]) {
            int top = Math.max(tops[i] + dy, other.tops[j]);
            int bottom = Math.min(bottoms[i] + dy, other.bottoms[j]);
            shared += Math.max(bottom - top, 0);
            if (bottoms[i] + dy < other.bottoms[j]) {
                i++;
            } else {
                j++;
            }
        }
        return shared;
    }
}
