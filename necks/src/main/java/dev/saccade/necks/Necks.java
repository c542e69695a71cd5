package dev.saccade.necks;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

import java.util.List;

/** Registers the necks for configs. */
public final class Necks implements PartProvider {

    @Override
    public List<Class<? extends PartConfig>> parts() {
        return List.of(Fpn.Config.class, DyHead.Config.class, SequentialNeck.Config.class);
    }
}
