package dev.saccade.necks;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;

import java.util.List;

/** Registers the necks for configs. */
public final class Necks implements ComponentProvider {

    @Override
    public List<Class<? extends ComponentConfig>> components() {
        return List.of(Fpn.Config.class, DyHead.Config.class, SequentialNeck.Config.class);
    }
}
