package dev.saccade.train;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;
import dev.saccade.train.optimizers.AdamW;
import dev.saccade.train.optimizers.Sgd;
import dev.saccade.train.schedules.ConstantSchedule;
import dev.saccade.train.schedules.CosineSchedule;
import dev.saccade.train.schedules.PolySchedule;
import dev.saccade.train.schedules.StepSchedule;

import java.util.List;

/** Registers the optimizers and schedules of this module. */
public final class TrainParts implements PartProvider {

    @Override
    public List<Class<? extends PartConfig>> parts() {
        return List.of(
                Sgd.Config.class,
                AdamW.Config.class,
                ConstantSchedule.class,
                StepSchedule.class,
                PolySchedule.class,
                CosineSchedule.class);
    }
}
