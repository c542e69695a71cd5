package dev.saccade.video.tracking;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;

import java.util.List;

/** Lists the built-in trackers. */
public final class TrackerComponents implements ComponentProvider {

    @Override
    public List<Class<? extends ComponentConfig>> components() {
        return List.of(ByteTrack.Config.class, OcSort.Config.class);
    }
}
