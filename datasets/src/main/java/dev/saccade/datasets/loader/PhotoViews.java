package dev.saccade.datasets.loader;

import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.ImageBatch;

import java.util.List;

/**
 * Photographs as a model is shown them at test time: the same ones, in the same order and without
 * targets, in one batch for every view.
 *
 * @see ViewReader
 */
public final class PhotoViews implements AutoCloseable {

    private final ImmutableList<Batch> views;

    PhotoViews(List<Batch> views) {
        this.views = ImmutableList.copyOf(views);
    }

    /** Returns the batch of each view. */
    public List<Batch> batches() {
        return views;
    }

    /** Returns the batch of each view on the device of a manager, see {@link Batch#on}. */
    public List<ImageBatch> on(NDManager manager) {
        return views.stream().map(view -> view.on(manager)).toList();
    }

    /** Gives the memory of the pixels back. */
    @Override
    public void close() {
        views.forEach(Batch::close);
    }
}
