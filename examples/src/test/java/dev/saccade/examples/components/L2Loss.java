package dev.saccade.examples.components;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Script;
import dev.saccade.heads.loss.BoxLoss;

/** Squared differences. */
@Component("l2")
public record L2Loss(@Default("1") double lossWeight) implements BoxLoss {

    private static final Script SUM =
            Script.compile(
                    "(pred: Tensor, target: Tensor, weight: Tensor) -> Tensor",
                    "return torch.sum(torch.mul(torch.pow(torch.sub(pred, target), 2), weight))");

    public L2Loss {
        new Checks().inRange("loss_weight", lossWeight, 0, 1e6).throwIfAny();
    }

    @Override
    public NDArray sum(NDArray pred, NDArray target, NDArray weight) {
        NDArray sum = SUM.run(pred, target, weight);
        return sum.mul(Tensors.of(sum.getManager(), (float) lossWeight));
    }
}
