package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.structures.Size;

/**
 * A score of every class for every cell of a map too large to be held: made a band of rows at a
 * time, when asked for.
 *
 * <p>Bands are cheapest when asked for in order. Gradients are not recorded.
 */
public interface ScoreMap extends AutoCloseable {

    /** Returns height and width. */
    Size size();

    /** Returns the number of classes, K. */
    int numClasses();

    /**
     * Returns the rows from {@code top} to {@code bottom - 1}.
     *
     * @return {@code [bottom - top, W, K]}, which the caller frees
     */
    NDArray rows(int top, int bottom);

    /** Frees what the map is made from. */
    @Override
    void close();
}
