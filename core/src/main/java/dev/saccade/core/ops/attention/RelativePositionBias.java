package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import com.google.common.math.LongMath;

import dev.saccade.core.ops.script.ScriptTemplate;

import java.math.RoundingMode;
import java.util.List;
import java.util.Map;

/** Attention bias by relative position, looked up in a learned table. */
public final class RelativePositionBias {

    private static final ScriptTemplate WITHIN =
            ScriptTemplate.read(RelativePositionBias.class, "within");

    private static final ScriptTemplate PAIRS =
            ScriptTemplate.read(RelativePositionBias.class, "pairs");

    private RelativePositionBias() {}

    /**
     * Returns the bias {@code [heads, height * width, height * width]}, query by key, of a window.
     *
     * @param table {@code [(2 M - 1)^2, heads]}; row {@code (dy + M - 1) (2 M - 1) + dx + M - 1} is
     *     for a query {@code dy} rows below and {@code dx} columns right of its key
     */
    public static NDArray ofWindow(NDArray table, int height, int width) {
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
     * Returns the bias {@code [heads, M^2, F^2]} of a window's M x M tokens for F x F cells.
     *
     * @param table {@code [heads, (M + F - 1)^2]}; column {@code (y - v + F - 1) (M + F - 1) + x -
     *     u + F - 1} is for the token (y, x) and the cell (v, u)
     */
    public static NDArray ofCells(NDArray table, int window) {
        return pairs(table, window, List.of(3, 4));
    }

    /**
     * Returns the bias {@code [..., M^2, M^2]}, query by key, of a square window.
     *
     * @param table {@code [..., (2 M - 1)^2]}; column {@code (dy + M - 1) (2 M - 1) + dx + M - 1}
     *     is for a key {@code dy} rows below and {@code dx} columns right of its query
     */
    static NDArray ofKeys(NDArray table, int window) {
        return pairs(table, window, List.of(1, 2));
    }

    /**
     * Looks up all pairs of a query (y, x) and a key (v, u); the table is read backwards along the
     * {@code reversed} axes of {@code [..., y, x, v, u]}.
     */
    private static NDArray pairs(NDArray table, int window, List<Integer> reversed) {
        Shape shape = table.getShape();
        int side = (int) LongMath.sqrt(shape.get(shape.dimension() - 1), RoundingMode.UNNECESSARY);
        return PAIRS.with(Map.of("side", side, "keys", side - window + 1, "reversed", reversed))
                .run(table);
    }
}
