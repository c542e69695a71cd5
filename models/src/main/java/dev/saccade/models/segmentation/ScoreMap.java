package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.structures.Size;

/**
 * A score of every class for every cell of a map too large to be held: made a tile at a time, when
 * asked for.
 *
 * <p>Tiles are cheapest when asked for row by row. Gradients are not recorded.
 */
public interface ScoreMap extends AutoCloseable {

    /** Returns height and width. */
    Size size();

    /** Returns the number of classes, K. */
    int numClasses();

    /** Returns the owner of what the map is made from. */
    NDManager manager();

    /**
     * Returns a part.
     *
     * @return {@code [height of the tile, width of the tile, K]}, which the caller frees
     */
    NDArray part(Tile tile);

    /** Frees what the map is made from. */
    @Override
    void close();
}
