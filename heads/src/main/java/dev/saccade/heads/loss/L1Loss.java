package dev.saccade.heads.loss;

import dev.saccade.core.ops.script.Script;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;

/**
 * The sum of absolute differences.
 *
 * @param lossWeight weight of the loss among the others
 */
@Part("l1")
public record L1Loss(@Default("1") double lossWeight) implements WeightOnlyBoxLoss {

    private static final Script SCRIPT =
            Script.compile(
                    SIGNATURE,
                    "return torch.sum(torch.mul(torch.abs(torch.sub(pred, target)), weight))");

    /** Checks the weight. */
    public L1Loss {
        WeightOnlyBoxLoss.check(lossWeight);
    }

    @Override
    public Script script() {
        return SCRIPT;
    }
}
