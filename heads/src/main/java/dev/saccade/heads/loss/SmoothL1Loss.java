package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;

import java.util.Map;

/**
 * The sum of absolute differences, squared where they are small (Fast R-CNN, Girshick 2015).
 *
 * @param beta from this difference on the loss is linear
 * @param lossWeight weight of the loss among the others
 */
@Part("smooth_l1")
public record SmoothL1Loss(@Default("1") double beta, @Default("1") double lossWeight)
        implements BoxLoss {

    private static final ScriptTemplate SCRIPT =
            ScriptTemplate.of(
                    "(pred: Tensor, target: Tensor, weight: Tensor) -> Tensor",
                    """
                    b = {beta}
                    d = torch.abs(torch.sub(pred, target))
                    inner = torch.mul(torch.mul(d, d), 0.5 / b)
                    outer = torch.sub(d, 0.5 * b)
                    return torch.sum(torch.mul(torch.where(torch.lt(d, b), inner, outer), weight))
                    """);

    /** Checks the values. */
    public SmoothL1Loss {
        new Checks()
                .above("beta", beta, 0, 1000)
                .within("loss_weight", lossWeight, 0, 1e6)
                .throwIfAny();
    }

    @Override
    public NDArray sum(NDArray pred, NDArray target, NDArray weight) {
        Script script = SCRIPT.with(Map.of("beta", (double) (float) beta));
        return WeightedSum.run(script, lossWeight, pred, target, weight);
    }
}
