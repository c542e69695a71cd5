package dev.saccade.core.ops;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.structures.Size;

/**
 * Bilinear resizing as PyTorch's {@code interpolate} without antialiasing, columns first, then any
 * band of rows on its own, for results that are too large to be held at once.
 *
 * <p>Maps are {@code [h, w, K]}, contiguous. The order of operations, and so the rounding, is that
 * of PyTorch.
 *
 * @param from size of the map
 * @param to size of the result
 * @param alignCorners whether the centres of the corner cells lie on one another, not their corners
 */
public record BilinearResize(Size from, Size to, boolean alignCorners) {

    /**
     * What a band of rows of the result is made of.
     *
     * @param first the first row of the map that takes part
     * @param last the row behind the last one
     * @param shares {@code [rows of the band, last - first]} how much of each row of the map
     */
    @SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
    public record Band(int first, int last, float[] shares) {

        /** Returns the shares as an array beside another. */
        public NDArray shares(NDArray beside) {
            int rows = last - first;
            Shape shape = new Shape(shares.length / rows, rows);
            return Tensors.of(beside.getManager(), shares, shape);
        }
    }

    private static final ScriptTemplate COLUMNS =
            ScriptTemplate.of(
                    "(x: Tensor, width: Tensor) -> Tensor",
                    """
                    map = torch.unsqueeze(torch.permute(x, [2, 0, 1]), 0)
                    size = [torch.size(x, 0), int(width)]
                    wide = torch.squeeze(torch.upsample_bilinear2d(map, size, %s), 0)
                    return torch.contiguous(torch.permute(wide, [1, 2, 0]))
                    """);

    private static final ScriptTemplate COLUMNS_BACKWARD =
            ScriptTemplate.of(
                    "(dy: Tensor, width: Tensor) -> Tensor",
                    """
                    h = torch.size(dy, 0)
                    map = torch.unsqueeze(torch.permute(dy, [2, 0, 1]), 0)
                    size = [1, torch.size(dy, 2), h, int(width)]
                    to = [h, torch.size(dy, 1)]
                    dx = torch.upsample_bilinear2d_backward(map, to, size, %s)
                    return torch.contiguous(torch.permute(torch.squeeze(dx, 0), [1, 2, 0]))
                    """);

    private static final Script ROWS =
            Script.compile(
                    "(x: Tensor, shares: Tensor) -> Tensor",
                    """
                    rows = torch.mm(shares, torch.reshape(x, [torch.size(x, 0), -1]))
                    return torch.reshape(rows, [-1, torch.size(x, 1), torch.size(x, 2)])
                    """);

    /** Checks that there is something to resize. */
    public BilinearResize {
        checkArgument(from.area() > 0 && to.area() > 0, "cannot resize %s to %s", from, to);
    }

    /**
     * Resizes all columns of some rows.
     *
     * @param x {@code [rows, from.width, K]}
     * @return {@code [rows, to.width, K]}
     */
    public NDArray columns(NDArray x) {
        return run(COLUMNS, x, to.width());
    }

    /**
     * Returns the gradient by the input of {@link #columns} from that by its output.
     *
     * @param dy {@code [rows, to.width, K]}
     * @return {@code [rows, from.width, K]}
     */
    public NDArray columnsBackward(NDArray dy) {
        return run(COLUMNS_BACKWARD, dy, from.width());
    }

    private NDArray run(ScriptTemplate template, NDArray x, int width) {
        try (NDArray number = x.getManager().create(width)) {
            return template.with(alignCorners ? "True" : "False").run(x, number);
        }
    }

    /**
     * Returns what the rows from {@code top} to {@code bottom - 1} of the result are made of.
     *
     * @throws IllegalArgumentException if there are none, or they are not all in the result
     */
    public Band band(int top, int bottom) {
        checkArgument(
                0 <= top && top < bottom && bottom <= to.height(),
                "rows %s to %s of %s",
                top,
                bottom,
                to);
        int first = (int) position(top);
        int last = Math.min((int) position(bottom - 1) + 2, from.height());
        int rows = last - first;
        float[] shares = new float[(bottom - top) * rows];
        for (int y = top; y < bottom; y++) {
            float position = position(y);
            int low = Math.min((int) position, from.height() - 1);
            int at = (y - top) * rows + low - first;
            if (low == from.height() - 1) {
                shares[at] = 1;
            } else {
                shares[at + 1] = position - low;
                shares[at] = 1 - shares[at + 1];
            }
        }
        return new Band(first, last, shares);
    }

    /** Returns where the centre of a row of the result lies between those of the map. */
    private float position(int row) {
        if (alignCorners) {
            float scale = to.height() > 1 ? (float) (from.height() - 1) / (to.height() - 1) : 0;
            return scale * row;
        }
        float scale = (float) from.height() / to.height();
        return Math.max(scale * (row + 0.5f) - 0.5f, 0);
    }

    /**
     * Makes a band.
     *
     * @param x {@code [band.last - band.first, to.width, K]}, the rows that take part
     * @return {@code [rows of the band, to.width, K]}
     */
    public NDArray rows(NDArray x, Band band) {
        try (NDArray shares = band.shares(x)) {
            return ROWS.run(x, shares);
        }
    }
}
