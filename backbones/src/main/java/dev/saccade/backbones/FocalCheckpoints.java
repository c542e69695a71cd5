package dev.saccade.backbones;

import ai.djl.ndarray.types.Shape;

import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.IndexTable;
import dev.saccade.core.conversion.PositionTable;

import java.util.Optional;
import java.util.stream.IntStream;

/** Rules for checkpoints of the official Focal Transformer code. */
final class FocalCheckpoints {

    private static final String BIASES = "{*}.relative_position_bias_table";
    private static final String NEIGHBORS = BIASES + "_to_neighbors";
    private static final String POOLED = BIASES + "_to_windows.{i}";

    /** The last stage of a classifier has one window, so its neighbor tables are missing. */
    static final CheckpointRules RULES =
            SwinCheckpoints.TABLES
                    .withPositions(PositionTable.bilinear(POOLED).withPositionsLast())
                    .withIndexes(
                            new IndexTable(
                                    NEIGHBORS, "{*}.valid_ind_rolled", FocalCheckpoints::neighbors),
                            new IndexTable(
                                    POOLED,
                                    "{*}.relative_position_index_{i}",
                                    FocalCheckpoints::pooled),
                            new IndexTable(
                                    POOLED, "{*}.valid_ind_unfold_{i}", FocalCheckpoints::unfolded))
                    .withMissing(
                            "{b}layers.3.blocks.{j}.attn"
                                    + ".relative_position_bias_table_to_neighbors");

    private FocalCheckpoints() {}

    /** Returns the indices of the neighbors of a window in maps rolled in four directions. */
    private static Optional<IndexTable.Values> neighbors(IndexTable.Parameter table) {
        long queries = table.shape().get(2);
        int window = WindowIndexes.root(queries);
        int expand = window - WindowIndexes.root(queries - table.shape().get(3) / 4);
        int area = window * window;
        IntStream rolled =
                IntStream.range(0, 4 * area)
                        .filter(
                                at -> {
                                    int y = at % area / window;
                                    int x = at % window;
                                    boolean isTop = at / area < 2;
                                    boolean isLeft = at / area % 2 == 0;
                                    return (isTop ? y >= window - expand : y < expand)
                                            || (isLeft ? x >= window - expand : x < expand);
                                });
        return row(rolled);
    }

    /** Returns the bias index of each pair of query and pooled window. */
    private static Optional<IndexTable.Values> pooled(IndexTable.Parameter table) {
        return window(table)
                .map(window -> WindowIndexes.queriesToKeys(window, cells(table, window)));
    }

    /** Returns the indices of valid pooled windows around a window; empty if all are valid. */
    private static Optional<IndexTable.Values> unfolded(IndexTable.Parameter table) {
        int level = table.number("i");
        Optional<Integer> window = window(table);
        if (level == 0 || window.isEmpty()) {
            return Optional.empty();
        }
        int first = (1 << level) - 1;
        int side = (cells(table, window.get()) - first) / 2;
        int kernel = 2 * side + 1 + 2 * first;
        return row(
                IntStream.range(0, kernel * kernel)
                        .filter(at -> at / kernel >= first && at % kernel >= first));
    }

    private static Optional<Integer> window(IndexTable.Parameter table) {
        return table.other(BIASES).map((Shape biases) -> WindowIndexes.window(biases.get(0)));
    }

    /** Returns the side, in pooled windows, of the region that a window attends to. */
    private static int cells(IndexTable.Parameter table, int window) {
        return WindowIndexes.root(table.shape().get(1)) + 1 - window;
    }

    private static Optional<IndexTable.Values> row(IntStream places) {
        return Optional.of(new IndexTable.Values(WindowIndexes.elements(places.asLongStream())));
    }
}
