package dev.saccade.examples;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

import java.util.List;

/** What the examples bring: configs can name it as they name what comes with Saccade. */
public final class ExampleParts implements PartProvider {

    @Override
    public List<Class<? extends PartConfig>> parts() {
        return List.of(
                MobileNet.Config.class, CenternessHead.Config.class, CountingError.Config.class);
    }
}
