package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.MultiplyAdds;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The window of a query. Split maps are {@code [N, windows, heads, area, d]}, filters {@code [N,
 * windows, heads, area, area]}, query by key. With side M, offset {@code (dy + M - 1) (2 M - 1) +
 * dx + M - 1} belongs to a key {@code dy} rows below and {@code dx} columns right of its query.
 * Keys that a cyclic shift moved from the other side of the map are masked; padding is not.
 */
public record WindowRegion(int side, int shift) implements FilterRegion {

    private Windows windows() {
        return new Windows(side, shift);
    }

    @Override
    public int keys() {
        return side * side;
    }

    @Override
    public int offsets() {
        return (2 * side - 1) * (2 * side - 1);
    }

    @Override
    public NDArray arrange(NDArray map) {
        return windows().arrange(map);
    }

    @Override
    public List<NDArray> split(NDArray arranged, int parts, int heads) {
        return windows().split(arranged, parts, heads);
    }

    @Override
    public NDArray products(NDArray q, NDArray k) {
        return values(q, () -> q.matMul(k.swapAxes(3, 4)));
    }

    @Override
    public NDArray ofQueries(NDArray q, NDArray rk) {
        return values(q, () -> byPosition(q, pairs(rk)));
    }

    @Override
    public NDArray ofKeys(NDArray k, NDArray rq) {
        return values(k, () -> byPosition(k, pairs(rq).swapAxes(2, 3)).swapAxes(3, 4));
    }

    /** Multiplies the tokens at each position in a window by the table of that position. */
    private static NDArray byPosition(NDArray q, NDArray pairs) {
        long[] shape = q.getShape().getShape();
        long positions = shape[2] * shape[3];
        NDArray queries = q.transpose(2, 3, 0, 1, 4).reshape(positions, -1, shape[4]);
        NDArray keys = pairs.transpose(0, 2, 1, 3).reshape(positions, shape[4], shape[3]);
        return queries.matMul(keys)
                .reshape(shape[2], shape[3], shape[0], -1, shape[3])
                .transpose(2, 3, 0, 1, 4);
    }

    /** Runs an operator that multiplies each query with each key; counts its multiply-adds. */
    private NDArray values(NDArray part, Supplier<NDArray> operator) {
        Shape pairs = part.getShape().slice(0, 4).add(keys());
        return MultiplyAdds.run(part.size() * keys(), part, pairs, operator);
    }

    @Override
    public NDArray ofOffsets(NDArray rb) {
        return pairs(rb);
    }

    /** Converts {@code [..., offsets]} to {@code [..., area, area]}, query by key. */
    private NDArray pairs(NDArray table) {
        return RelativePositionBias.ofKeys(table, side);
    }

    @Override
    public Optional<NDArray> mask(NDArray arranged) {
        return shift > 0 ? Optional.of(windows().mask(arranged, 1)) : Optional.empty();
    }

    @Override
    public NDArray apply(NDArray filters, NDArray v, Shape map) {
        Shape part = v.getShape();
        return MultiplyAdds.run(
                v.size() * keys(),
                v,
                map.slice(0, 3).add(part.get(2) * part.get(4)),
                () -> merge(filters.matMul(v), map));
    }

    /** Undoes {@link #split} and {@link #arrange}; see {@link Windows#merge}. */
    public NDArray merge(NDArray part, Shape map) {
        return windows().merge(part, map);
    }
}
