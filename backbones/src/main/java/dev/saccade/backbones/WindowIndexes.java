package dev.saccade.backbones;

import ai.djl.ndarray.types.Shape;

import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.conversion.IndexTable;

import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Indices into relative position bias tables for pairs of query and key in a window. */
final class WindowIndexes {

    private WindowIndexes() {}

    /** Returns the side of a window with {@code (2 side - 1)²} biases. */
    static int window(long biases) {
        return (root(biases) + 1) / 2;
    }

    static int root(long square) {
        return (int) Math.round(Math.sqrt((double) square));
    }

    /** Returns indices into a Swin table {@code [biases, heads]} by query minus key position. */
    static Optional<IndexTable.Values> ofSwin(IndexTable.Parameter table) {
        if (table.shape().dimension() != 2) {
            return Optional.empty();
        }
        int window = window(table.shape().get(0));
        return Optional.of(queriesToKeys(window, window));
    }

    /** Returns indices into an ELSA table {@code [heads, biases]} by key minus query position. */
    static Optional<IndexTable.Values> ofElsa(IndexTable.Parameter table) {
        if (table.shape().dimension() != 2) {
            return Optional.empty();
        }
        int window = window(table.shape().get(1));
        int area = window * window;
        LongStream biases =
                IntStream.range(0, area * area)
                        .mapToLong(at -> bias(window, window, at % area, at / area));
        return Optional.of(new IndexTable.Values(elements(biases)));
    }

    /** Returns the bias index of each pair of a window query and one of {@code keys²} keys. */
    static IndexTable.Values queriesToKeys(int window, int keys) {
        int queries = window * window;
        int area = keys * keys;
        LongStream biases =
                IntStream.range(0, queries * area)
                        .mapToLong(at -> bias(window, keys, at / area, at % area));
        return new IndexTable.Values(new Shape(queries, area), elements(biases));
    }

    static ImmutableLongArray elements(LongStream elements) {
        return ImmutableLongArray.copyOf(elements);
    }

    private static long bias(int window, int keys, int query, int key) {
        int y = query / window - key / keys + keys - 1;
        int x = query % window - key % keys + keys - 1;
        return (long) y * (window + keys - 1) + x;
    }
}
