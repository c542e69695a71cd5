package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.vision.BilinearResize;
import dev.saccade.core.structures.Size;

import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Class scores of every pixel, computed tile by tile on request; requests in row order are fastest.
 *
 * @param manager owner of the source arrays
 * @param tiles computes the scores of a tile, {@code [height, width, K]}
 * @param labels writes the class with the highest score of each pixel of a tile, the first on ties,
 *     to {@code [height, width, 2]} bytes, low byte first
 * @param free closes the source arrays
 */
public record ScoreMap(
        Size size,
        int numClasses,
        NDManager manager,
        Function<Tile, NDArray> tiles,
        BiConsumer<Tile, NDArray> labels,
        Runnable free)
        implements AutoCloseable {

    /** Creates a map that computes labels from scores. */
    ScoreMap(
            Size size,
            int numClasses,
            NDManager manager,
            Function<Tile, NDArray> tiles,
            Runnable free) {
        this(size, numClasses, manager, tiles, (tile, to) -> label(tiles.apply(tile), to), free);
    }

    private static void label(NDArray scores, NDArray to) {
        try (scores) {
            BilinearResize.labels(scores, to);
        }
    }

    /** Returns logits {@code [1, K, h, w]} as a score map. Closes the input. */
    static ScoreMap of(NDArray logits) {
        try (logits;
                NDArray map = logits.squeeze(0);
                NDArray view = map.transpose(1, 2, 0)) {
            NDArray tokens = Functional.contiguous(view);
            Shape shape = tokens.getShape();
            return new ScoreMap(
                    new Size((int) shape.get(0), (int) shape.get(1)),
                    (int) shape.get(2),
                    tokens.getManager(),
                    tile -> tokens.get(tile.index()),
                    tokens::close);
        }
    }

    /** Returns this map resized; closing the result closes this map. */
    ScoreMap resize(Size to, boolean alignCorners) {
        if (size.equals(to)) {
            return this;
        }
        BilinearResize resize = new BilinearResize(size, to, alignCorners);
        return new ScoreMap(
                to,
                numClasses,
                manager,
                tile -> resized(resize, tile, BilinearResize::part),
                (tile, labels) ->
                        resized(
                                resize,
                                tile,
                                (x, rows, columns) -> {
                                    BilinearResize.labels(x, rows, columns, labels);
                                    return labels;
                                }),
                free);
    }

    private interface Resizing {
        NDArray apply(NDArray x, BilinearResize.Band rows, BilinearResize.Band columns);
    }

    private NDArray resized(BilinearResize resize, Tile tile, Resizing resizing) {
        BilinearResize.Band rows = resize.rows(tile.top(), tile.bottom());
        BilinearResize.Band columns = resize.columns(tile.left(), tile.right());
        Tile origin = new Tile(rows.first(), rows.last(), columns.first(), columns.last());
        try (NDArray x = part(origin)) {
            return resizing.apply(x, rows, columns);
        }
    }

    /** Returns this map flipped horizontally; closing the result closes this map. */
    public ScoreMap flipHorizontally() {
        return flip(1, tile -> tile.flipHorizontally(size.width()));
    }

    /** Returns this map flipped vertically; closing the result closes this map. */
    public ScoreMap flipVertically() {
        return flip(0, tile -> tile.flipVertically(size.height()));
    }

    private ScoreMap flip(int axis, Function<Tile, Tile> place) {
        return new ScoreMap(
                size, numClasses, manager, tile -> flipped(place.apply(tile), axis), free);
    }

    private NDArray flipped(Tile tile, int axis) {
        try (NDArray part = part(tile)) {
            return part.flip(axis);
        }
    }

    /** Returns the scores of a tile, {@code [height, width, K]}, which the caller closes. */
    public NDArray part(Tile tile) {
        return tiles.apply(tile);
    }

    @Override
    public void close() {
        free.run();
    }
}
