package dev.saccade.heads;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

import java.util.List;

/** The heads that a config can name. */
public final class Heads implements PartProvider {

    @Override
    public List<Class<? extends PartConfig>> parts() {
        return List.of(
                RetinaNetHead.Config.class,
                MaskRcnnHead.Config.class,
                CascadeMaskRcnnHead.Config.class,
                UperNetHead.Config.class,
                SemanticFpnHead.Config.class,
                FcnHead.Config.class);
    }
}
