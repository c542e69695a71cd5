package dev.saccade.examples;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;

import java.util.List;

/** Registers the custom components of the examples for use in configs. */
public final class ExampleComponents implements ComponentProvider {

    @Override
    public List<Class<? extends ComponentConfig>> components() {
        return List.of(
                MobileNet.Config.class, CenternessHead.Config.class, CountingError.Config.class);
    }
}
