package dev.saccade.core.parts;

import dev.saccade.core.conversion.CheckpointRules;

/** Settings of a component with weights: a backbone, a neck or a head. */
public interface ModelPartConfig extends PartConfig {

    /**
     * Returns rules for third-party checkpoints of this family, none by default. They must not
     * depend on the settings.
     */
    default CheckpointRules checkpointRules() {
        return CheckpointRules.NONE;
    }
}
