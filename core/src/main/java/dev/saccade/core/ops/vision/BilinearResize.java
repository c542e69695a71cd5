package dev.saccade.core.ops.vision;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
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
     * Interpolation weights of output rows or columns.
     *
     * @param first first input row or column
     * @param last end of the input rows or columns (exclusive)
     * @param weights {@code [output rows or columns, last - first]}
     */
    @SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
    public record Band(int first, int last, float[] weights) {

        /** Returns the weights on the device of another array. */
        public NDArray weights(NDArray like) {
            int rows = last - first;
            Shape shape = new Shape(weights.length / rows, rows);
            return Tensors.of(like.getManager(), weights, shape);
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
        try (NDArray rowWeights = rows.weights(x);
                NDArray columnWeights = columns.weights(x)) {
            return Autocast.off(() -> PART.run(x, rowWeights, columnWeights));
        }
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
        float[] weights = new float[(end - start) * (last - first)];
        for (int i = start; i < end; i++) {
            float position = position(cells, pixels, i);
            int low = (int) position;
            int at = (i - start) * (last - first) + low - first;
            if (low == cells - 1) {
                weights[at] = 1;
            } else {
                weights[at + 1] = position - low;
                weights[at] = 1 - weights[at + 1];
            }
        }
        return new Band(first, last, weights);
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
