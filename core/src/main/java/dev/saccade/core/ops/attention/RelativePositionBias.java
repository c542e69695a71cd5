package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;

import com.google.common.math.LongMath;

import dev.saccade.core.ops.script.ScriptTemplate;

import java.math.RoundingMode;
import java.util.Map;

/** The bias of a query for a key by their relative position, looked up in a learned table. */
public final class RelativePositionBias {

    private static final ScriptTemplate WITHIN =
            ScriptTemplate.of(
                    "(table: Tensor) -> Tensor",
                    """
                    height = {height}
                    width = {width}
                    center = {center}
                    y = torch.arange(height, device=ops.prim.device(table))
                    x = torch.arange(width, device=ops.prim.device(table))
                    dy = torch.unsqueeze(y, 1) - y + center
                    dx = torch.unsqueeze(x, 1) - x + center
                    rows = torch.reshape(dy * {side}, [height, 1, height, 1]) + torch.reshape(dx, [1, width, 1, width])
                    bias = torch.index_select(table, 0, torch.reshape(rows, [-1]))
                    tokens = height * width
                    return torch.permute(torch.reshape(bias, [tokens, tokens, -1]), [2, 0, 1])
                    """);

    private static final ScriptTemplate BETWEEN =
            ScriptTemplate.of(
                    "(table: Tensor) -> Tensor",
                    """
                    square = torch.flip(torch.reshape(table, [-1, {side}, {side}]), [1, 2])
                    steps = torch.unfold(torch.unfold(square, 1, {steps}, 1), 2, {steps}, 1)
                    return torch.flatten(torch.flatten(torch.flip(steps, [1, 2]), 3), 1, 2)
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
        return WITHIN.with(
                        Map.of(
                                "side", side,
                                "height", height,
                                "width", width,
                                "center", (side - 1) / 2))
                .run(table);
    }

    /**
     * Looks up the bias of the tokens of a square window for the cells of another square.
     *
     * @param table {@code [heads, (M + F - 1)^2]}; column {@code (y - v + F - 1) (M + F - 1) + x -
     *     u + F - 1} is for the token (y, x) and the cell (v, u)
     * @param window M, the tokens along a side of the window
     * @return {@code [heads, M^2, F^2]}
     */
    public static NDArray between(NDArray table, int window) {
        int side = (int) LongMath.sqrt(table.getShape().get(1), RoundingMode.UNNECESSARY);
        return BETWEEN.with(Map.of("side", side, "steps", side - window + 1)).run(table);
    }
}
