package dev.saccade.necks;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

import java.util.List;

/** The necks that a config can name. */
public final class Necks implements PartProvider {

    @Override
    public List<Class<? extends PartConfig>> parts() {
        return List.of(Fpn.Config.class, DyHead.Config.class, SequentialNeck.Config.class);
    }
}
