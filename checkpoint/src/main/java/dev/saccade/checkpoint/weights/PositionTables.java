package dev.saccade.checkpoint.weights;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.Libtorch;
import dev.saccade.core.conversion.PositionTable;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.vision.Interpolation;

import java.util.Locale;
import java.util.Optional;

/** Interpolates learned position tables to another grid, like the official detection code. */
final class PositionTables {

    private PositionTables() {}

    /** A resized table and the method, such as {@code bicubic}. */
    record Fitted(Tensor tensor, String how) {}

    /** Resizes a table to another shape; empty if anything else than the grid differs. */
    static Optional<Fitted> fit(PositionTable kind, Tensor table, Shape place) {
        if (!Layout.isPossible(table.shape()) || !Layout.isPossible(place)) {
            return Optional.empty();
        }
        Layout from = Layout.of(table.shape(), kind.positionsLast());
        Layout to = Layout.of(place, kind.positionsLast());
        if (from.channels != to.channels
                || from.extraTokens != to.extraTokens
                || from.extraTokens > 1) {
            return Optional.empty();
        }
        boolean isSameGrid = from.height == to.height && from.width == to.width;
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            NDArray rows = from.rows(manager.create(table.floats(), table.shape()));
            if (isSameGrid) {
                return Optional.of(new Fitted(Tensor.of(to.toTable(rows)), "transposed"));
            }
            NDArray grid =
                    rows.get(from.extraTokens + ":")
                            .transpose()
                            .reshape(1, from.channels, from.height, from.width);
            NDArray size = manager.zeros(new Shape(1, to.height, to.width, 1));
            NDArray resized =
                    NoGrad.call(() -> resized(kind, grid, size))
                            .reshape(to.height * to.width, to.channels);
            NDArray whole = rows.get(":" + to.extraTokens).concat(resized, 0);
            return Optional.of(new Fitted(Tensor.of(to.toTable(whole)), interpolation(kind)));
        }
    }

    private static NDArray resized(PositionTable kind, NDArray grid, NDArray size) {
        return switch (kind.method()) {
            case BICUBIC -> Interpolation.bicubic(grid, size);
            case BILINEAR -> Interpolation.bilinear(grid, size);
        };
    }

    private static String interpolation(PositionTable kind) {
        return kind.method().name().toLowerCase(Locale.ROOT);
    }

    /**
     * Layout of a table: {@code [positions, C]}, {@code [C, positions]}, {@code [1, positions, C]}
     * or {@code [1, C, H, W]}; {@code extraTokens} counts positions before the grid, such as PVT's
     * class token.
     */
    private record Layout(
            Shape shape,
            boolean positionsLast,
            long extraTokens,
            long channels,
            long height,
            long width) {

        static boolean isPossible(Shape shape) {
            int axes = shape.dimension();
            return axes == 2 || ((axes == 3 || axes == 4) && shape.get(0) == 1);
        }

        static Layout of(Shape shape, boolean positionsLast) {
            long[] axes = shape.getShape();
            if (axes.length == 4) {
                return new Layout(shape, true, 0, axes[1], axes[2], axes[3]);
            }
            int last = axes.length - 1;
            long positions = axes[positionsLast ? last : last - 1];
            long side = (long) Math.sqrt((double) positions);
            long channels = axes[positionsLast ? last - 1 : last];
            return new Layout(shape, positionsLast, positions - side * side, channels, side, side);
        }

        /** Returns a table of this layout as {@code [positions, C]}. */
        NDArray rows(NDArray table) {
            return positionsLast
                    ? table.reshape(channels, height * width).transpose()
                    : table.reshape(extraTokens + height * width, channels);
        }

        /** Returns {@code [positions, C]} as a table of this layout. */
        NDArray toTable(NDArray rows) {
            return (positionsLast ? rows.transpose() : rows).reshape(shape);
        }
    }
}
