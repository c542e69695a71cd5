package dev.saccade.core.structures;

import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** Column-wise runs of a mask, for transforms in time linear in the number of columns and runs. */
final class ColumnRuns {

    private final Size size;

    /** Index of the first run of each column; the last two entries form an empty column. */
    private final int[] first;

    private final int[] tops;
    private final int[] bottoms;

    /** Splits runs at column boundaries. */
    ColumnRuns(Size size, int[] counts) {
        this.size = size;
        this.first = new int[size.width() + 2];
        int height = size.height();
        for (int i = 1, start = counts[0]; i < counts.length; i += 2) {
            int last = start + counts[i] - 1;
            for (int x = start / height; x <= last / height; x++) {
                first[x + 1]++;
            }
            start = last + 1 + (i + 1 < counts.length ? counts[i + 1] : 0);
        }
        for (int x = 1; x < first.length; x++) {
            first[x] += first[x - 1];
        }
        this.tops = new int[first[size.width()]];
        this.bottoms = new int[tops.length];
        int stretch = 0;
        for (int i = 1, start = counts[0]; i < counts.length; i += 2) {
            int end = start + counts[i];
            for (int x = start / height; x * height < end; x++) {
                tops[stretch] = Math.max(0, start - x * height);
                bottoms[stretch++] = Math.min(height, end - x * height);
            }
            start = end + (i + 1 < counts.length ? counts[i + 1] : 0);
        }
    }

    void forEach(Rle.ColumnRunVisitor visitor) {
        for (int x = 0; x < size.width(); x++) {
            for (int i = first[x]; i < first[x + 1]; i++) {
                visitor.visit(x, tops[i], bottoms[i]);
            }
        }
    }

    Rle crop(int top, int left, Size part) {
        return move(part, x -> x + left, rows(y -> Math.max(0, Math.min(y - top, part.height()))));
    }

    /** Places the mask on a canvas; drops columns outside, but all rows must be inside. */
    Rle place(int top, int left, Size whole) {
        return move(
                whole,
                x -> x >= left && x - left < size.width() ? x - left : size.width(),
                rows(y -> y + top));
    }

    Rle flipHorizontal() {
        return move(size, x -> size.width() - 1 - x, rows(y -> y));
    }

    /** Resizes like OpenCV's {@code INTER_NEAREST}. */
    Rle resize(Size target) {
        double stepX = 1 / ((double) target.width() / size.width());
        double stepY = 1 / ((double) target.height() / size.height());
        int[] edges = new int[size.height() + 1];
        int y = 0;
        for (int source = 0; source <= size.height(); source++) {
            while (y < target.height() && nearest(y, stepY, size.height()) < source) {
                y++;
            }
            edges[source] = y;
        }
        return move(target, x -> nearest(x, stepX, size.width()), edges);
    }

    private static int nearest(int position, double step, int edge) {
        return Math.min((int) (position * step), edge - 1);
    }

    /** Removes {@code distance} pixels at both ends of each run, even at the image border. */
    Rle erodeRows(int distance) {
        RunBuilder runs = new RunBuilder(size);
        for (int x = 0; x < size.width(); x++) {
            int row = 0;
            for (int i = first[x]; i < first[x + 1]; i++) {
                int top = tops[i] + distance;
                int bottom = bottoms[i] - distance;
                if (top < bottom) {
                    runs.add(top - row, false);
                    runs.add(bottom - top, true);
                    row = bottom;
                }
            }
            runs.add(size.height() - row, false);
        }
        return runs.build();
    }

    private int[] rows(IntUnaryOperator moved) {
        return IntStream.rangeClosed(0, size.height()).map(moved).toArray();
    }

    /**
     * Returns a mask with rearranged columns.
     *
     * @param columns maps a column of the result to a column of this mask, or to the width for none
     * @param rows maps row edges, 0 to the height of this mask, to the result, in ascending order
     */
    private Rle move(Size target, IntUnaryOperator columns, int[] rows) {
        RunBuilder runs = new RunBuilder(target);
        for (int x = 0; x < target.width(); x++) {
            int column = columns.applyAsInt(x);
            int row = 0;
            for (int i = first[column]; i < first[column + 1]; i++) {
                int top = rows[tops[i]];
                int bottom = rows[bottoms[i]];
                runs.add(top - row, false);
                runs.add(bottom - top, true);
                row = bottom;
            }
            runs.add(target.height() - row, false);
        }
        return runs.build();
    }
}
