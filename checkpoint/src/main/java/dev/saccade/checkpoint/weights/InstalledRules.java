package dev.saccade.checkpoint.weights;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.ModelComponentConfig;
import dev.saccade.core.conversion.CheckpointRules;

import java.util.Arrays;
import java.util.List;

/** Rules for third-party checkpoints, from the components on the class path. */
final class InstalledRules {

    private InstalledRules() {}

    /**
     * Returns all components' rules; the first match wins. Throws if a component with rules has a
     * required setting.
     */
    static CheckpointRules all() {
        List<ModelComponentConfig> parts = Configs.defaults(ModelComponentConfig.class);
        for (Class<? extends ModelComponentConfig> part :
                Configs.registered(ModelComponentConfig.class).values()) {
            if (definesRules(part) && parts.stream().noneMatch(part::isInstance)) {
                throw SaccadeException.user(
                        "%s: implements checkpointRules but has a required setting; give every"
                                + " setting a @Default",
                        part.getName());
            }
        }
        return parts.stream()
                .map(ModelComponentConfig::checkpointRules)
                .distinct()
                .reduce(CheckpointRules.NONE, CheckpointRules::and);
    }

    private static boolean definesRules(Class<? extends ModelComponentConfig> part) {
        return Arrays.stream(part.getMethods())
                .filter(method -> method.getName().equals("checkpointRules"))
                .anyMatch(method -> method.getDeclaringClass() != ModelComponentConfig.class);
    }
}
