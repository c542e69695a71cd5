package dev.saccade.models.own;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

import java.util.List;

/** The parts of a detector that a library brings. */
public final class OwnParts implements PartProvider {

    @Override
    public List<Class<? extends PartConfig>> parts() {
        return List.of(
                CenternessHead.Config.class,
                NearestAssigner.class,
                CornerCoder.class,
                FirstSampler.class,
                L2Loss.class,
                BrierLoss.class);
    }
}
