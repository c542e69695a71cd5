package dev.saccade.examples;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

import java.util.List;

/** Registers the custom components of the examples for use in configs. */
public final class ExampleParts implements PartProvider {

    @Override
    public List<Class<? extends PartConfig>> parts() {
        return List.of(
                MobileNet.Config.class, CenternessHead.Config.class, CountingError.Config.class);
    }
}
