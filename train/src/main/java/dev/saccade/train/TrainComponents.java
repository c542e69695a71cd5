package dev.saccade.train;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.train.optimizers.AdamW;
import dev.saccade.train.optimizers.Lamb;
import dev.saccade.train.optimizers.Sgd;
import dev.saccade.train.schedules.ConstantSchedule;
import dev.saccade.train.schedules.CosineSchedule;
import dev.saccade.train.schedules.PolySchedule;
import dev.saccade.train.schedules.StepSchedule;
import dev.saccade.train.schedules.TimmCosineSchedule;
import dev.saccade.train.schedules.TrapezoidSchedule;

import java.util.List;

/** Registers the optimizers and schedules of this module. */
public final class TrainComponents implements ComponentProvider {

    @Override
    public List<Class<? extends ComponentConfig>> components() {
        return List.of(
                Sgd.Config.class,
                AdamW.Config.class,
                Lamb.Config.class,
                ConstantSchedule.class,
                StepSchedule.class,
                PolySchedule.class,
                TrapezoidSchedule.class,
                CosineSchedule.class,
                TimmCosineSchedule.class);
    }
}
