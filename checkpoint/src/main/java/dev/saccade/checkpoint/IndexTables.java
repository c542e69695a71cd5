package dev.saccade.checkpoint;

import ai.djl.ndarray.types.Shape;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The index tables that the Python classes of Swin, ELSA and Focal Transformer store beside their
 * weights, and miss when they load strictly. Saccade computes them where it needs them.
 */
final class IndexTables {

    private static final String BIASES = "relative_position_bias_table";

    private final Map<String, Tensor> stored;
    private final Map<String, Tensor> tensors = new LinkedHashMap<>();

    private IndexTables(Map<String, Tensor> stored) {
        this.stored = stored;
    }

    /** Returns a checkpoint of official names with the index tables that belong to it. */
    static Checkpoint addTo(Checkpoint checkpoint) {
        IndexTables tables = new IndexTables(checkpoint.tensors());
        tables.stored.forEach(
                (name, tensor) -> {
                    tables.tensors.put(name, tensor);
                    tables.addBeside(name, tensor.shape());
                });
        return new Checkpoint(tables.tensors, checkpoint.metadata());
    }

    private void addBeside(String name, Shape shape) {
        int dot = name.lastIndexOf('.') + 1;
        String path = name.substring(0, dot);
        String last = name.substring(dot);
        if (last.equals(BIASES)) {
            int window = window(shape.get(0));
            putBiases(path + "relative_position_index", window, window);
        } else if (last.equals("rb") && shape.dimension() == 2) {
            put(path + "relative_id", biasesOfElsa(window(shape.get(1))));
        } else if (last.equals(BIASES + "_to_neighbors")) {
            int window = root(shape.get(2));
            int inner = root(shape.get(2) - shape.get(3) / 4);
            put(path + "valid_ind_rolled", neighbours(window, window - inner));
        } else if (path.endsWith(BIASES + "_to_windows.")) {
            String attention = path.substring(0, path.lastIndexOf(BIASES));
            int window = window(stored.get(attention + BIASES).shape().get(0));
            addLevel(attention, Integer.parseInt(last), window, root(shape.get(1)) + 1 - window);
        }
    }

    /** Adds the tables of a level of which each window sees {@code cells²} pooled windows. */
    private void addLevel(String attention, int level, int window, int cells) {
        putBiases(attention + "relative_position_index_" + level, window, cells);
        if (level > 0) {
            int first = (1 << level) - 1;
            int kernel = 2 * ((cells - first) / 2) + 1 + 2 * first;
            put(
                    attention + "valid_ind_unfold_" + level,
                    IntStream.range(0, kernel * kernel)
                            .filter(at -> at / kernel >= first && at % kernel >= first)
                            .asLongStream());
        }
    }

    private static int window(long biases) {
        return (root(biases) + 1) / 2;
    }

    private static int root(long square) {
        return (int) Math.round(Math.sqrt((double) square));
    }

    /** Adds the bias of each query in a window with each key in a square of {@code keys²}. */
    private void putBiases(String name, int window, int keys) {
        int queries = window * window;
        int area = keys * keys;
        put(
                name,
                IntStream.range(0, queries * area)
                        .mapToLong(at -> bias(window, keys, at / area, at % area)),
                queries,
                area);
    }

    /** ELSA counts from the key to the query. */
    private static LongStream biasesOfElsa(int window) {
        int area = window * window;
        return IntStream.range(0, area * area)
                .mapToLong(at -> bias(window, window, at % area, at / area));
    }

    private static long bias(int window, int keys, int query, int key) {
        int y = query / window - key / keys + keys - 1;
        int x = query % window - key % keys + keys - 1;
        return (long) y * (window + keys - 1) + x;
    }

    /** Returns which cells of a window are another's once it is rolled into the four corners. */
    private static LongStream neighbours(int window, int expand) {
        int area = window * window;
        return IntStream.range(0, 4 * area)
                .filter(
                        at -> {
                            int y = at % area / window;
                            int x = at % window;
                            boolean isTop = at / area < 2;
                            boolean isLeft = at / area % 2 == 0;
                            return (isTop ? y >= window - expand : y < expand)
                                    || (isLeft ? x >= window - expand : x < expand);
                        })
                .asLongStream();
    }

    /** Adds a table; of one axis, unless the shape says otherwise. */
    private void put(String name, LongStream values, long... shape) {
        long[] elements = values.toArray();
        ByteBuffer bytes =
                ByteBuffer.allocate(elements.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asLongBuffer().put(elements);
        Shape whole = shape.length == 0 ? new Shape(elements.length) : new Shape(shape);
        tensors.put(name, new Tensor(ElementType.INT64, whole, bytes));
    }
}
