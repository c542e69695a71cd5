package dev.saccade.checkpoint.weights;

import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.Module;

/**
 * Loads the tensors of a checkpoint into a module by name.
 *
 * <p>Names of other libraries are translated, see {@link Naming}. Prefixes such as {@code
 * backbone.} or {@code module.encoder_q.} are added or removed where more names match that way, so
 * the checkpoint of a backbone fits a detector and vice versa. The arrays of the module stay; only
 * their values change. Integers and non-finite weights are rejected before any value changes.
 */
public final class Weights {

    /** A checkpoint of which less fits belongs to another model. */
    private static final double LEAST_RATIO = 0.5;

    private Weights() {}

    /**
     * Restores all values of a module, to continue training.
     *
     * @throws SaccadeException of kind user that shows the differences, if a parameter or buffer is
     *     missing in the checkpoint or has another shape
     */
    public static LoadReport restore(Checkpoint checkpoint, Module module) {
        WeightMatch match = WeightMatch.complete(checkpoint, module);
        match.copy();
        return match.report();
    }

    /**
     * Initializes a module with the values of a checkpoint, for prediction.
     *
     * @param manager owns the arrays and determines the device
     * @throws SaccadeException of kind user that shows the differences, if a parameter or buffer is
     *     missing in the checkpoint or has another shape
     */
    public static LoadReport restore(Checkpoint checkpoint, Module module, NDManager manager) {
        WeightMatch match = WeightMatch.complete(checkpoint, module);
        module.initialize(manager, 0, match.values());
        match.throwIfUnusable();
        return match.report();
    }

    /**
     * Sets the values that a checkpoint has, as a start for training; other values stay.
     *
     * <p>Position tables for windows or images of another size are interpolated according to {@link
     * CheckpointRules}. A table with another number of heads is not used.
     *
     * @throws SaccadeException of kind user that shows the differences, if less than half of the
     *     checkpoint fits
     */
    public static LoadReport initialize(Checkpoint checkpoint, Module module) {
        return initialize(checkpoint, module, ClassLayers.NONE);
    }

    /**
     * Sets the values that a checkpoint has, as {@link #initialize(Checkpoint, Module)}, and
     * matches the rows of class layers by class name.
     *
     * @param classLayers the layers that have rows for every class
     */
    public static LoadReport initialize(
            Checkpoint checkpoint, Module module, ClassLayers classLayers) {
        WeightMatch match = new WeightMatch(checkpoint, module, classLayers);
        match.fitPositions();
        match.matchClasses();
        LoadReport report = match.report();
        if (report.ratio() < LEAST_RATIO) {
            throw SaccadeException.user(
                    "the checkpoint is of another model, only %.0f %% of it fits%s: %s",
                    100 * report.ratio(), match.differsOnlyInNames(), report);
        }
        match.copy();
        return report;
    }
}
