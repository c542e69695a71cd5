package dev.saccade.checkpoint.weights;

import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.Module;

/**
 * Loads the tensors of a checkpoint into a module by name.
 *
 * <p>Names of other libraries are translated; see {@link Naming}. Prefixes such as {@code
 * backbone.} or {@code module.encoder_q.} are added or removed if more names match, so a backbone
 * checkpoint fits a detector and vice versa. Integers and non-finite weights are rejected. Existing
 * arrays are overwritten only after this check.
 */
public final class Weights {

    /** Minimum {@link LoadReport#ratio}; below it, the checkpoint belongs to another model. */
    private static final double MIN_RATIO = 0.5;

    private Weights() {}

    /**
     * Restores all values of a module, to resume training.
     *
     * @throws SaccadeException of kind user with the differences, if a parameter or buffer is
     *     missing or has another shape
     */
    public static LoadReport restore(Checkpoint checkpoint, Module module) {
        WeightMatch match = WeightMatch.complete(checkpoint, module);
        match.copy();
        return match.report();
    }

    /** Initializes a module from a checkpoint for prediction; {@code manager} owns the arrays. */
    public static LoadReport restore(Checkpoint checkpoint, Module module, NDManager manager) {
        WeightMatch match = WeightMatch.complete(checkpoint, module);
        module.initialize(manager, 0, match.values());
        match.throwIfUnusable();
        return match.report();
    }

    /**
     * Loads all matching values to start training; other values stay unchanged.
     *
     * <p>Position tables for other window or image sizes are interpolated according to {@link
     * CheckpointRules}; tables with another number of heads are not used.
     *
     * @throws SaccadeException of kind user with the differences, if less than half of the
     *     checkpoint matches
     */
    public static LoadReport initialize(Checkpoint checkpoint, Module module) {
        return initialize(checkpoint, module, ClassLayers.NONE);
    }

    /**
     * Loads values like {@link #initialize(Checkpoint, Module)}, and matches rows of class layers
     * by class name.
     */
    public static LoadReport initialize(
            Checkpoint checkpoint, Module module, ClassLayers classLayers) {
        return initialize(checkpoint, module, classLayers, StemInit.COPY);
    }

    /**
     * Loads values like {@link #initialize(Checkpoint, Module, ClassLayers)}.
     *
     * @param stemInit how weights of RGB images initialize layers of other channels
     */
    public static LoadReport initialize(
            Checkpoint checkpoint, Module module, ClassLayers classLayers, StemInit stemInit) {
        WeightMatch match = new WeightMatch(checkpoint, module, classLayers);
        match.fitPositions();
        match.fitStems(stemInit);
        match.matchClasses();
        LoadReport report = match.report();
        if (report.ratio() < MIN_RATIO) {
            throw SaccadeException.user(
                    "the checkpoint belongs to another model: only %.0f %% of its tensors"
                            + " match%s: %s",
                    100 * report.ratio(), match.renamingHint(), report);
        }
        match.copy();
        return report;
    }
}
