package dev.saccade.datasets.loader;

import ai.djl.ndarray.NDManager;

import dev.saccade.core.structures.ImageBatch;

import java.util.List;
import java.util.Optional;

/**
 * Images prepared for prediction: the same ones in the same order in each view, without targets.
 *
 * @param batches the batch of each view; empty if an image is only processed in tiles
 * @param tiled the image in tiles, if it is larger than a tile
 * @see ViewReader
 */
public record ImageViews(List<Batch> batches, Optional<TiledImage> tiled) implements AutoCloseable {

    /** Returns the batch of each view on the device of a manager, see {@link Batch#to}. */
    public List<ImageBatch> to(NDManager manager) {
        return batches.stream().map(view -> view.to(manager)).toList();
    }

    /** Frees the memory of the pixels. */
    @Override
    public void close() {
        batches.forEach(Batch::close);
        tiled.ifPresent(TiledImage::close);
    }
}
