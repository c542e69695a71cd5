package dev.saccade.core.ops.vision;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.structures.Size;

import java.util.Map;

/**
 * Bilinear resizing like PyTorch's {@code interpolate}, without antialiasing. Can compute any part
 * of a result that is too large for memory. Maps are {@code [h, w, K]}.
 */
public record BilinearResize(Size from, Size to, boolean alignCorners) {

    /**
     * Positions of output rows or columns in the input.
     *
     * @param first first input row or column
     * @param last end of the input rows or columns (exclusive)
     * @param positions positions relative to {@code first}, from 0 to {@code last - first - 1}
     */
    @SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
    public record Band(int first, int last, float[] positions) {

        /** Returns the positions on the device of another array. */
        NDArray positions(NDArray like) {
            return Tensors.of(like.getManager(), positions, new Shape(positions.length));
        }

        /** Returns the positions in the whole input, on the device of another array. */
        NDArray wholePositions(NDArray like) {
            float[] whole = new float[positions.length];
            for (int i = 0; i < whole.length; i++) {
                whole[i] = first + positions[i];
            }
            return Tensors.of(like.getManager(), whole, new Shape(whole.length));
        }

        /**
         * Returns the interpolation weights, {@code [positions, last - first]}, on the device of
         * another array.
         */
        public NDArray weights(NDArray like) {
            int cells = last - first;
            float[] weights = new float[positions.length * cells];
            for (int i = 0; i < positions.length; i++) {
                int low = (int) positions[i];
                float far = positions[i] - low;
                weights[i * cells + low] = 1 - far;
                if (far > 0) {
                    weights[i * cells + low + 1] = far;
                }
            }
            return Tensors.of(like.getManager(), weights, new Shape(positions.length, cells));
        }
    }

    private static final ScriptTemplate COLUMNS =
            ScriptTemplate.of(
                    "(x: Tensor, width: Tensor) -> Tensor",
                    """
                    map = torch.unsqueeze(torch.permute(x, [2, 0, 1]), 0)
                    size = [torch.size(x, 0), torch.size(width, 0)]
                    wide = torch.squeeze(torch.upsample_bilinear2d(map, size, {align_corners}), 0)
                    return torch.contiguous(torch.permute(wide, [1, 2, 0]))
                    """);

    private static final ScriptTemplate COLUMNS_BACKWARD =
            ScriptTemplate.of(
                    "(dy: Tensor, width: Tensor) -> Tensor",
                    """
                    h = torch.size(dy, 0)
                    map = torch.unsqueeze(torch.permute(dy, [2, 0, 1]), 0)
                    size = [1, torch.size(dy, 2), h, torch.size(width, 0)]
                    to = [h, torch.size(dy, 1)]
                    dx = torch.upsample_bilinear2d_backward(map, to, size, {align_corners})
                    return torch.contiguous(torch.permute(torch.squeeze(dx, 0), [1, 2, 0]))
                    """);

    private static final Script PART =
            Script.compile(
                    "(x: Tensor, rows: Tensor, columns: Tensor) -> Tensor",
                    """
                    h = torch.size(x, 0)
                    mixers = torch.expand(columns, [h, -1, -1])
                    wide = torch.reshape(torch.bmm(mixers, x), [h, -1])
                    size = [torch.size(rows, 0), torch.size(columns, 0), torch.size(x, 2)]
                    return torch.reshape(torch.mm(rows, wide), size)
                    """);

    private static final ScriptTemplate FUSED_PART =
            ScriptTemplate.of(
                    "(x: Tensor, rows: Tensor, columns: Tensor) -> Tensor",
                    "return ops.saccade.bilinear_resize(torch.contiguous(x), rows, columns)");

    private static final ScriptTemplate FUSED_LABELS =
            ScriptTemplate.of(
                    "(x: Tensor, rows: Tensor, columns: Tensor, labels: Tensor) -> Tensor",
                    "return ops.saccade.bilinear_labels(torch.contiguous(x), rows, columns, labels)");

    /** Writes the first channel with the largest value as two bytes, low byte first. */
    private static final Script LABELS =
            Script.compile(
                    "(x: Tensor, labels: Tensor) -> Tensor",
                    """
                    best, index = torch.max(x, 2)
                    bytes = [torch.bitwise_and(index, 255), torch.__rshift__(index, 8)]
                    return torch.copy_(labels, torch.stack(bytes, 2))
                    """);

    public BilinearResize {
        checkArgument(from.area() > 0 && to.area() > 0, "cannot resize %s to %s", from, to);
    }

    /** Resizes the width only: {@code [rows, from.width, K]} to {@code [rows, to.width, K]}. */
    public NDArray columns(NDArray x) {
        return run(COLUMNS, x, to.width());
    }

    /** Returns the gradient with respect to the input of {@link #columns}. */
    public NDArray columnsBackward(NDArray dy) {
        return run(COLUMNS_BACKWARD, dy, from.width());
    }

    private NDArray run(ScriptTemplate template, NDArray x, int width) {
        try (NDArray number = x.getManager().create(new Shape(width, 0))) {
            return template.with(Map.of("align_corners", alignCorners)).run(x, number);
        }
    }

    /** Returns the weights of the output rows {@code top} to {@code bottom - 1}. */
    public Band rows(int top, int bottom) {
        return band(from.height(), to.height(), top, bottom);
    }

    /** Returns the weights of the output columns {@code left} to {@code right - 1}. */
    public Band columns(int left, int right) {
        return band(from.width(), to.width(), left, right);
    }

    /**
     * Computes a part of the output.
     *
     * @param x crop of the input, {@code [rows.last - rows.first, columns.last - columns.first, K]}
     * @return {@code [output rows, output columns, K]}
     */
    public static NDArray part(NDArray x, Band rows, Band columns) {
        boolean isFused = Kernels.isFusedForFloat32OnCpu(x);
        try (NDArray y = isFused ? rows.positions(x) : rows.weights(x);
                NDArray across = isFused ? columns.positions(x) : columns.weights(x)) {
            return Autocast.off(
                    () -> (isFused ? FUSED_PART.with(Map.of()) : PART).run(x, y, across));
        }
    }

    /**
     * Writes the first channel with the largest value for each pixel of {@link #part}.
     *
     * @param labels {@code [output rows, output columns, 2]} bytes, low byte first
     */
    public static void labels(NDArray x, Band rows, Band columns, NDArray labels) {
        if (!Kernels.isFusedForFloat32OnCpu(x)) {
            try (NDArray part = part(x, rows, columns)) {
                labels(part, labels);
            }
            return;
        }
        try (NDArray y = rows.positions(x);
                NDArray across = columns.positions(x)) {
            FUSED_LABELS.with(Map.of()).run(x, y, across, labels).close();
        }
    }

    /** Writes the first channel with the largest value for each pixel of {@code [H, W, K]}. */
    public static void labels(NDArray x, NDArray labels) {
        LABELS.run(x, labels).close();
    }

    private Band band(int cells, int pixels, int start, int end) {
        checkArgument(
                0 <= start && start < end && end <= pixels,
                "got pixels %s to %s of %s, expected a range inside",
                start,
                end,
                pixels);
        int first = (int) position(cells, pixels, start);
        int last = Math.min((int) position(cells, pixels, end - 1) + 2, cells);
        float[] positions = new float[end - start];
        for (int i = start; i < end; i++) {
            positions[i - start] = Math.min(position(cells, pixels, i), cells - 1) - first;
        }
        return new Band(first, last, positions);
    }

    /** Returns the position of an output pixel in input cells. */
    private float position(int cells, int pixels, int pixel) {
        if (alignCorners) {
            float scale = pixels > 1 ? (float) (cells - 1) / (pixels - 1) : 0;
            return Math.min(scale * pixel, cells - 1);
        }
        float scale = (float) cells / pixels;
        // PyTorch's compiled loops use fused multiply-add, too.
        return Math.max(Math.fma(scale, pixel + 0.5f, -0.5f), 0);
    }
}
