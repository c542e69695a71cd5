package dev.saccade.core.ops.vision;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.RunBuilder;
import dev.saccade.core.structures.Size;

/**
 * Pastes the mask probabilities of a box into an image, like mmdetection's {@code _do_paste_mask}
 * on CPUs. Interpolates bilinearly at pixel centers with zero padding, from one pixel before the
 * box to one after it.
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
    public MaskPaste(float[] maps, Boxes boxes, int i, int side, Size canvas) {
        this.map = maps;
        this.first = i * side * side;
        this.side = side;
        this.canvas = canvas;
        this.x = Axis.layOut(boxes.x1(i), boxes.x2(i), side, canvas.width());
        this.y = Axis.layOut(boxes.y1(i), boxes.y2(i), side, canvas.height());
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

        /** Sets the cell and weights of a pixel; {@code position} is -1 to 1 in the box. */
        private void place(int i, float position, int side) {
            // In a box without extent, every pixel is at the center.
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
