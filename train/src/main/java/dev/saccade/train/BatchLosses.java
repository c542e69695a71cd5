package dev.saccade.train;

import ai.djl.ndarray.NDManager;

import dev.saccade.core.structures.Losses;
import dev.saccade.datasets.loader.Batch;

/** What is learned: the losses of a model for one batch, each a mean over the images or objects. */
@FunctionalInterface
public interface BatchLosses {

    /**
     * Runs the forward pass.
     *
     * @param manager owns all arrays that are made
     */
    Losses compute(Batch batch, NDManager manager);
}
