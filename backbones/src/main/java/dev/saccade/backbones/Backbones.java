package dev.saccade.backbones;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;

import java.util.List;

/** Registers the backbones for configs. */
public final class Backbones implements ComponentProvider {

    @Override
    public List<Class<? extends ComponentConfig>> components() {
        return List.of(
                ResNet.Config.class,
                Pvt.Config.class,
                Swin.Config.class,
                ElsaSwin.Config.class,
                Focal.Config.class,
                LinGlo.Config.class,
                UnifiedSwin.Config.class,
                DwConvSwin.Config.class,
                DynamicConvSwin.Config.class,
                DwNet.Config.class,
                Deit.Config.class);
    }
}
