package dev.saccade.mlflow;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;

import java.util.List;

/** Registers the hook {@code mlflow}. */
public final class MlflowComponents implements ComponentProvider {

    @Override
    public List<Class<? extends ComponentConfig>> components() {
        return List.of(MlflowHook.Config.class);
    }
}
