package dev.saccade.backbones;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

import java.util.List;

/** Registers the backbones for configs. */
public final class Backbones implements PartProvider {

    @Override
    public List<Class<? extends PartConfig>> parts() {
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
                DwNet.Config.class);
    }
}
