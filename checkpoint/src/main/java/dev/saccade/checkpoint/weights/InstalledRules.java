package dev.saccade.checkpoint.weights;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.parts.ModelPartConfig;

import java.util.Arrays;
import java.util.List;

/** Rules of the components on the class path for third-party checkpoints. */
final class InstalledRules {

    private InstalledRules() {}

    /**
     * Returns the rules of all components; the first that applies wins.
     *
     * @throws SaccadeException of kind user that names it, if a part cannot be loaded
     */
    static CheckpointRules all() {
        List<ModelPartConfig> parts = Configs.defaults(ModelPartConfig.class);
        for (Class<? extends ModelPartConfig> part :
                Configs.registered(ModelPartConfig.class).values()) {
            if (bringsRules(part) && parts.stream().noneMatch(part::isInstance)) {
                throw SaccadeException.user(
                        "%s: brings checkpointRules, which are read before anything is set, and has"
                                + " a setting that is required; give each setting a @Default",
                        part.getName());
            }
        }
        return parts.stream()
                .map(ModelPartConfig::checkpointRules)
                .distinct()
                .reduce(CheckpointRules.NONE, CheckpointRules::and);
    }

    private static boolean bringsRules(Class<? extends ModelPartConfig> part) {
        return Arrays.stream(part.getMethods())
                .filter(method -> method.getName().equals("checkpointRules"))
                .anyMatch(method -> method.getDeclaringClass() != ModelPartConfig.class);
    }
}
