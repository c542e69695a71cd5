package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Functional;

/** Sum of absolute differences. */
@Component("l1")
public record L1Loss(@Default("1") double lossWeight) implements BoxLoss {

    public L1Loss {
        new Checks().inRange("loss_weight", lossWeight, 0, 1e6).throwIfAny();
    }

    @Override
    public NDArray sum(NDArray pred, NDArray target, NDArray weight) {
        return Functional.mul(pred.sub(target).abs().mul(weight).sum(), (float) lossWeight);
    }
}
