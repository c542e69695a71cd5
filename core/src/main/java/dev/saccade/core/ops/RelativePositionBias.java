package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;

import com.google.common.math.LongMath;

import java.math.RoundingMode;

/** The bias of a query for a key by their relative position, looked up in a learned table. */
public final class RelativePositionBias {

    private static final ScriptTemplate WITHIN =
            ScriptTemplate.of(
                    "(table: Tensor) -> Tensor",
                    """
                    y = torch.arange(%2$d, device=ops.prim.device(table))
                    x = torch.arange(%3$d, device=ops.prim.device(table))
                    dy = torch.unsqueeze(y, 1) - y + %4$d
                    dx = torch.unsqueeze(x, 1) - x + %4$d
                    rows = torch.reshape(dy * %1$d, [%2$d, 1, %2$d, 1]) + torch.reshape(dx, [1, %3$d, 1, %3$d])
                    bias = torch.index_select(table, 0, torch.reshape(rows, [-1]))
                    tokens = %2$d * %3$d
                    return torch.permute(torch.reshape(bias, [tokens, tokens, -1]), [2, 0, 1])
                    """);

    private RelativePositionBias() {}

    /**
     * Looks up the bias within a window.
     *
     * @param table {@code [(2 M - 1)^2, heads]}; row {@code (dy + M - 1) (2 M - 1) + dx + M - 1} is
     *     for a query {@code dy} rows below and {@code dx} columns right of its key
     * @param height rows of the window, at most M
     * @param width columns of the window, at most M
     * @return {@code [heads, height * width, height * width]}, query by key
     */
    public static NDArray within(NDArray table, int height, int width) {
        int side = (int) LongMath.sqrt(table.getShape().get(0), RoundingMode.UNNECESSARY);
        return WITHIN.with(side, height, width, (side - 1) / 2).run(table);
    }
}
