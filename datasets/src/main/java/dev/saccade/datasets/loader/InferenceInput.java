package dev.saccade.datasets.loader;

import ai.djl.ndarray.NDManager;

import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.Size;

import java.util.List;
import java.util.Optional;

/**
 * Transformed images to predict, without targets; one batch per test-time augmentation.
 *
 * @param batches the same images in each augmentation; empty if predicted only in tiles
 * @param tiled the image in tiles, if it is larger than a tile
 * @see InferenceReader
 */
public record InferenceInput(List<Batch> batches, Optional<TiledImage> tiled)
        implements AutoCloseable {

    /**
     * Returns the padded size if the image can share a batch with images of the same size: without
     * tiles and test-time augmentation.
     */
    public Optional<Size> sharedBatchSize() {
        return tiled.isEmpty() && batches.size() == 1
                ? Optional.of(batches.get(0).size())
                : Optional.empty();
    }

    /** Returns the batches on the device of a manager; see {@link Batch#to}. */
    public List<ImageBatch> to(NDManager manager) {
        return batches.stream().map(batch -> batch.to(manager)).toList();
    }

    @Override
    public void close() {
        batches.forEach(Batch::close);
        tiled.ifPresent(TiledImage::close);
    }
}
