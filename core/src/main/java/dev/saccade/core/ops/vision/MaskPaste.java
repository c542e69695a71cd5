package dev.saccade.core.ops.vision;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.RunBuilder;
import dev.saccade.core.structures.Size;

/**
 * Puts a small map of mask probabilities into its box on an image, as mmdetection's {@code
 * _do_paste_mask} does on CPUs: linear interpolation with zeros around the map, at the centers of
 * the pixels from one before the box to one behind it.
 *
 * <p>The image is worked on column by column; nothing of its size is kept but the runs.
 */
public final class MaskPaste {

    private final float[] map;
    private final int first;
    private final int side;
    private final Size canvas;
    private final Axis x;
    private final Axis y;

    /**
     * Prepares a map.
     *
     * @param maps {@code [N * side * side]} probabilities, row by row
     * @param boxes [N] where the maps belong, in pixels of the canvas
     * @param i which of them
     * @param side height and width of a map
     * @param canvas height and width of the image
     */
    public MaskPaste(float[] maps, Boxes boxes, int i, int side, Size canvas) {
        this.map = maps;
        this.first = i * side * side;
        this.side = side;
        this.canvas = canvas;
        this.x = Axis.layOut(boxes.x1(i), boxes.x2(i), side, canvas.width());
        this.y = Axis.layOut(boxes.y1(i), boxes.y2(i), side, canvas.height());
    }

    /** Returns the probabilities on the canvas, {@code [H, W]}, row by row. */
    public float[] probabilities() {
        float[] all = new float[Math.toIntExact(canvas.area())];
        float[] column = new float[y.size()];
        for (int j = 0; j < x.size(); j++) {
            interpolate(j, column);
            for (int i = 0; i < column.length; i++) {
                all[(y.start + i) * canvas.width() + x.start + j] = column[i];
            }
        }
        return all;
    }

    /** Returns the pixels near the box whose probability is at least a threshold. */
    public Rle atLeast(float threshold) {
        RunBuilder runs = new RunBuilder(canvas);
        boolean columnsTouch = y.size() == canvas.height();
        boolean isInside = false;
        float[] column = new float[y.size()];
        for (int j = 0; j < x.size(); j++) {
            interpolate(j, column);
            int top = (x.start + j) * canvas.height() + y.start;
            for (int i = 0; i < column.length; i++) {
                if (column[i] >= threshold != isInside) {
                    runs.fill(top + i, isInside);
                    isInside = !isInside;
                }
            }
            if (isInside && !columnsTouch) {
                runs.fill(top + column.length, true);
                isInside = false;
            }
        }
        runs.fill(Math.toIntExact(canvas.area()), isInside);
        return runs.build();
    }

    private void interpolate(int j, float[] column) {
        int left = x.low[j];
        for (int i = 0; i < column.length; i++) {
            int above = y.low[i];
            column[i] =
                    at(above, left) * (x.near[j] * y.near[i])
                            + at(above, left + 1) * (x.far[j] * y.near[i])
                            + at(above + 1, left) * (x.near[j] * y.far[i])
                            + at(above + 1, left + 1) * (x.far[j] * y.far[i]);
        }
    }

    private float at(int row, int column) {
        boolean inside = row >= 0 && row < side && column >= 0 && column < side;
        return inside ? map[first + row * side + column] : 0;
    }

    /**
     * Where the pixels of one axis lie on the map.
     *
     * @param start the first pixel
     * @param low the cell before the center of each pixel
     * @param near the share of that cell
     * @param far the share of the next
     */
    @SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
    private record Axis(int start, int[] low, float[] near, float[] far) {

        static Axis layOut(float from, float to, int side, int pixels) {
            int start = Math.max((int) Math.floor(from) - 1, 0);
            int end = Math.min((int) Math.ceil(to) + 1, pixels);
            int size = Math.max(end - start, 0);
            Axis axis = new Axis(start, new int[size], new float[size], new float[size]);
            for (int i = 0; i < size; i++) {
                axis.place(i, (start + i + 0.5f - from) / (to - from) * 2 - 1, side);
            }
            return axis;
        }

        /** Places a pixel whose position on the box is known, from -1 to 1. */
        private void place(int i, float position, int side) {
            // Of a box without extent, every pixel is its center.
            float u = Float.isInfinite(position) ? 0 : position;
            float cell = (u + 1) * (side / 2f) - 0.5f;
            float floor = (float) Math.floor(cell);
            if (floor >= -1 && floor < side) {
                low[i] = (int) floor;
                far[i] = cell - floor;
                near[i] = 1 - far[i];
            }
        }

        int size() {
            return low.length;
        }
    }
}
