package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import com.google.common.math.IntMath;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.attention.RelativePositionBias;
import dev.saccade.core.ops.vision.Interpolation;

import java.math.RoundingMode;
import java.util.List;

/**
 * Positions of the tokens of global attention. Tables for {@code side x side} cells are
 * interpolated for other maps.
 *
 * @param side side of the map that the tables are for
 * @param hasClassToken whether tokens are {@code [N, 1, 1 + H * H, C]}, see {@link ClassToken},
 *     instead of {@code [N, H, W, C]}
 */
record TokenGrid(int side, boolean hasClassToken) {

    /** Returns the number of tokens, including the class token. */
    int tokens() {
        return side * side + first();
    }

    /** Returns the number of relative positions between two cells. */
    int offsets() {
        return (2 * side - 1) * (2 * side - 1);
    }

    private int first() {
        return hasClassToken ? 1 : 0;
    }

    private Shape cells(NDArray x) {
        Shape shape = x.getShape();
        if (!hasClassToken) {
            return shape.slice(1, 3);
        }
        int square = IntMath.sqrt((int) shape.get(2) - 1, RoundingMode.UNNECESSARY);
        return new Shape(square, square);
    }

    /**
     * Looks up a table {@code [offsets, heads]}: returns {@code [heads, tokens, tokens]}, query by
     * key, for tokens {@code x}. The class token has no relative position; its values are 0.
     */
    NDArray pairs(NDArray table, NDArray x) {
        Shape map = cells(x);
        long needed = Math.max(map.get(0), map.get(1));
        NDArray fitted = needed > side ? resized(table, 2 * side - 1, 2 * needed - 1) : table;
        int height = (int) map.get(0);
        NDArray pairs = RelativePositionBias.ofWindow(fitted, height, (int) map.get(1));
        return hasClassToken ? Functional.pad(pairs, List.of(1, 0, 1, 0)) : pairs;
    }

    private static NDArray resized(NDArray table, long from, long to) {
        NDArray grid = table.reshape(1, from, from, -1).transpose(0, 3, 1, 2);
        NDArray size = table.getManager().zeros(new Shape(1, to, to, 1));
        return Interpolation.bicubic(grid, size).reshape(to * to, -1);
    }

    /** Interpolates values {@code [tokens]} to the tokens of {@code x}. */
    NDArray perToken(NDArray values, NDArray x) {
        return fitted(values.reshape(1, -1, 1), cells(x), values).flatten();
    }

    /**
     * Interpolates a position table {@code [1, tokens, C]} to a map {@code [N, H, W, ...]}, bicubic
     * as in DeiT's code; the class token's row is not changed.
     */
    NDArray positions(NDArray table, NDArray map) {
        return fitted(table, map.getShape().slice(1, 3), table);
    }

    private NDArray fitted(NDArray table, Shape map, NDArray owner) {
        if (map.get(0) == side && map.get(1) == side) {
            return table;
        }
        NDArray grid =
                Functional.slice(table, 1, first(), tokens())
                        .reshape(1, side, side, -1)
                        .transpose(0, 3, 1, 2);
        NDArray size = owner.getManager().zeros(new Shape(1, map.get(0), map.get(1), 1));
        NDArray resized = Interpolation.bicubic(grid, size).reshape(1, map.size(), -1);
        return hasClassToken ? Functional.slice(table, 1, 0, 1).concat(resized, 1) : resized;
    }
}
