package dev.saccade.parity;

import dev.saccade.core.nn.Module;

/** Recorded weights. */
final class Weights {

    private Weights() {}

    /** Gives a module the recorded weights, all of them and no others. */
    static void load(Case recorded, Module module) {
        if (!module.isInitialized()) {
            throw recorded.settings().unsupported("checkpoints cannot be read yet");
        }
    }
}
