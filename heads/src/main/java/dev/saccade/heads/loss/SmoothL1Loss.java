package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Functional;

/** Smooth L1 loss (Fast R-CNN, Girshick 2015), summed; linear above {@code beta}. */
@Component("smooth_l1")
public record SmoothL1Loss(@Default("1") double beta, @Default("1") double lossWeight)
        implements BoxLoss {

    public SmoothL1Loss {
        new Checks()
                .above("beta", beta, 0, 1000)
                .inRange("loss_weight", lossWeight, 0, 1e6)
                .throwIfAny();
    }

    @Override
    public NDArray sum(NDArray pred, NDArray target, NDArray weight) {
        double b = (float) beta;
        NDArray d = pred.sub(target).abs();
        NDArray inner = Functional.mul(d.mul(d), 0.5 / b);
        NDArray outer = Functional.add(d, -0.5 * b);
        NDArray loss = Functional.where(Functional.lt(d, b), inner, outer);
        return Functional.mul(loss.mul(weight).sum(), (float) lossWeight);
    }
}
