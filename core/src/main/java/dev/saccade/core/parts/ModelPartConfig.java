package dev.saccade.core.parts;

import dev.saccade.core.conversion.CheckpointRules;

/** The hyper-parameters of a part that has weights: a backbone, a neck or a head. */
public interface ModelPartConfig extends PartConfig {

    /**
     * Returns what is to be known of checkpoints of this family that others wrote; it does not
     * depend on the hyper-parameters. Nothing, unless a part says more.
     */
    default CheckpointRules checkpointRules() {
        return CheckpointRules.NONE;
    }
}
