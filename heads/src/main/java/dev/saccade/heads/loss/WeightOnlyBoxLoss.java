package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.ops.script.Script;

/** A box loss that is one script and has no setting but its weight. */
interface WeightOnlyBoxLoss extends BoxLoss {

    /** Parameters and result of the script. */
    String SIGNATURE = "(pred: Tensor, target: Tensor, weight: Tensor) -> Tensor";

    /** Returns the weight of the loss among the others. */
    double lossWeight();

    /** Returns what computes the weighted sum. */
    Script script();

    @Override
    default NDArray sum(NDArray pred, NDArray target, NDArray weight) {
        return WeightedSum.run(script(), lossWeight(), pred, target, weight);
    }

    /** Checks a weight. */
    static void check(double lossWeight) {
        new Checks().within("loss_weight", lossWeight, 0, 1e6).throwIfAny();
    }
}
