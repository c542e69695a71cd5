package dev.saccade.checkpoint;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.parts.ModelPartConfig;

/** What the parts on the class path say of checkpoints of others. */
final class InstalledRules {

    private InstalledRules() {}

    /**
     * Returns the rules of all parts; where several apply, the first holds.
     *
     * @throws SaccadeException of kind user that names it, if a part cannot be loaded
     */
    static CheckpointRules all() {
        return Configs.usual(ModelPartConfig.class).stream()
                .map(ModelPartConfig::checkpointRules)
                .distinct()
                .reduce(CheckpointRules.NONE, CheckpointRules::and);
    }
}
