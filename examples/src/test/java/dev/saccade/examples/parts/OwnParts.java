package dev.saccade.examples.parts;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

import java.util.List;

/** What a library of one's own brings to a detector and to its training. */
public final class OwnParts implements PartProvider {

    @Override
    public List<Class<? extends PartConfig>> parts() {
        return List.of(
                ChannelMapper.Config.class,
                NearestAssigner.class,
                CornerCoder.class,
                FirstSampler.class,
                CalibratedNms.class,
                L2Loss.class,
                BrierLoss.class,
                CsvDataset.Config.class,
                RandomGrayscale.class,
                Lion.Config.class,
                ExponentialSchedule.class,
                SmoothedLoss.Config.class);
    }
}
