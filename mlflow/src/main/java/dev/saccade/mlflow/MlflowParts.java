package dev.saccade.mlflow;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

import java.util.List;

/** Registers the hook {@code mlflow}. */
public final class MlflowParts implements PartProvider {

    @Override
    public List<Class<? extends PartConfig>> parts() {
        return List.of(MlflowHook.Config.class);
    }
}
