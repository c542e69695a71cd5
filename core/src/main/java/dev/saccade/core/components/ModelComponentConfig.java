package dev.saccade.core.components;

import dev.saccade.core.conversion.CheckpointRules;

/** Settings of a component with weights: a backbone, neck or head. */
public interface ModelComponentConfig extends ComponentConfig {

    /** Returns rules for third-party checkpoints. The rules must not depend on the settings. */
    default CheckpointRules checkpointRules() {
        return CheckpointRules.NONE;
    }
}
