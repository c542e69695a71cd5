package dev.saccade.checkpoint.weights;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.parts.ModelPartConfig;

import java.util.Arrays;
import java.util.List;

/** Rules for third-party checkpoints, from the components on the class path. */
final class InstalledRules {

    private InstalledRules() {}

    /**
     * Returns the rules of all components; the first match wins. Throws if one cannot be loaded.
     */
    static CheckpointRules all() {
        List<ModelPartConfig> parts = Configs.defaults(ModelPartConfig.class);
        for (Class<? extends ModelPartConfig> part :
                Configs.registered(ModelPartConfig.class).values()) {
            if (bringsRules(part) && parts.stream().noneMatch(part::isInstance)) {
                throw SaccadeException.user(
                        "%s: implements checkpointRules but has a required setting; give every"
                                + " setting a @Default",
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
