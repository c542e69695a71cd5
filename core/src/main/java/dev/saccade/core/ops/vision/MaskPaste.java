package dev.saccade.core.ops.vision;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.RunBuilder;
import dev.saccade.core.structures.Size;

/**
 * Pastes the mask probabilities of a box into an image with bilinear interpolation, like
 * mmdetection's {@code _do_paste_mask} on CPUs, from one pixel before the box to one after it, or
 * like torchvision's {@code paste_masks_in_image}.
 *
 * <p>{@link #atLeast} works column by column and stores only runs at image size.
 */
public final class MaskPaste {

    private final float[] map;
    private final int first;
    private final int side;
    private final Size canvas;
    private final Axis x;
    private final Axis y;

    /**
     * Prepares the mask of box {@code i}.
     *
     * @param maps {@code [N * side * side]} probabilities, row-major
     * @param boxes {@code [N]} in pixels of the canvas
     */
    public MaskPaste(MaskStyle style, float[] maps, Boxes boxes, int i, int side, Size canvas) {
        this.map = maps;
        this.first = i * side * side;
        this.side = side;
        this.canvas = canvas;
        this.x = Axis.of(style, boxes.x1(i), boxes.x2(i), side, canvas.width());
        this.y = Axis.of(style, boxes.y1(i), boxes.y2(i), side, canvas.height());
    }

    /** Returns the probabilities on the canvas, {@code [H, W]}, row-major. */
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

    /** Returns the pixels near the box whose probability is at least {@code threshold}. */
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

    /** Lower cell and weights of each pixel along an axis, from pixel {@code start} on. */
    @SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
    private record Axis(int start, int[] low, float[] near, float[] far) {

        static Axis of(MaskStyle style, float from, float to, int side, int pixels) {
            return style == MaskStyle.TORCHVISION
                    ? ofWholePixels(from, to, side, pixels)
                    : ofFractions(from, to, side, pixels);
        }

        /** Resizes the map, padded by one cell, to a box of whole pixels. */
        private static Axis ofWholePixels(float from, float to, int side, int pixels) {
            int padded = side + 2;
            float center = (to + from) * 0.5f;
            float half = (to - from) * 0.5f * (padded / (float) side);
            int first = (int) (center - half);
            int last = (int) (center + half);
            float scale = padded / (float) Math.max(last - first + 1, 1);
            int start = Math.max(first, 0);
            Axis axis = ofSize(start, Math.min(last + 1, pixels));
            for (int i = 0; i < axis.size(); i++) {
                float cell = Math.max(scale * (start + i - first + 0.5f) - 0.5f, 0);
                axis.set(i, cell - 1);
            }
            return axis;
        }

        private static Axis ofFractions(float from, float to, int side, int pixels) {
            int start = Math.max((int) Math.floor(from) - 1, 0);
            int end = Math.min((int) Math.ceil(to) + 1, pixels);
            Axis axis = ofSize(start, end);
            for (int i = 0; i < axis.size(); i++) {
                axis.place(i, (start + i + 0.5f - from) / (to - from) * 2 - 1, side);
            }
            return axis;
        }

        private static Axis ofSize(int start, int end) {
            int size = Math.max(end - start, 0);
            return new Axis(start, new int[size], new float[size], new float[size]);
        }

        /** Sets the cell and weights of a pixel; {@code position} is -1 to 1 in the box. */
        private void place(int i, float position, int side) {
            // In a box without extent, every pixel is at the center.
            float u = Float.isInfinite(position) ? 0 : position;
            float cell = (u + 1) * (side / 2f) - 0.5f;
            if (cell >= -1 && cell < side) {
                set(i, cell);
            }
        }

        private void set(int i, float cell) {
            float floor = (float) Math.floor(cell);
            low[i] = (int) floor;
            far[i] = cell - floor;
            near[i] = 1 - far[i];
        }

        int size() {
            return low.length;
        }
    }
}
