package dev.saccade.examples.parts;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;

import java.util.List;

/** Registers custom components for detectors and training. */
public final class CustomParts implements PartProvider {

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
