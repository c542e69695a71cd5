package dev.saccade.examples.components;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;

import java.util.List;

/** Registers custom components for detectors and training. */
public final class CustomComponents implements ComponentProvider {

    @Override
    public List<Class<? extends ComponentConfig>> components() {
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
