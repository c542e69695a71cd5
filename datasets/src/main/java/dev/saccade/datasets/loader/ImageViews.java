package dev.saccade.datasets.loader;

import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.ImageBatch;

import java.util.List;
import java.util.Optional;

/**
 * Photographs as a model is shown them at test time: the same ones, in the same order and without
 * targets, in one batch for every view. One that is looked at in tiles has these, too, each of
 * which becomes a photograph of its own when its turn comes.
 *
 * @see ViewReader
 */
public final class ImageViews implements AutoCloseable {

    private final ImmutableList<Batch> views;
    private final Optional<TiledImage> tiled;

    ImageViews(List<Batch> views) {
        this(views, Optional.empty());
    }

    ImageViews(List<Batch> views, Optional<TiledImage> tiled) {
        this.views = ImmutableList.copyOf(views);
        this.tiled = tiled;
    }

    /** Returns the batch of each view; none, if a photograph is looked at in tiles only. */
    public List<Batch> batches() {
        return views;
    }

    /** Returns the photograph in tiles, if it is larger than one. */
    public Optional<TiledImage> tiled() {
        return tiled;
    }

    /** Returns the batch of each view on the device of a manager, see {@link Batch#on}. */
    public List<ImageBatch> on(NDManager manager) {
        return views.stream().map(view -> view.on(manager)).toList();
    }

    /** Gives the memory of the pixels back. */
    @Override
    public void close() {
        views.forEach(Batch::close);
        tiled.ifPresent(TiledImage::close);
    }
}
