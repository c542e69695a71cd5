package dev.saccade.heads.loss;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Script;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Script;

/** A loss that is one script, times its weight among the others. */
final class WeightedSum {

    private WeightedSum() {}

    static NDArray run(Script script, double lossWeight, NDArray... inputs) {
        NDArray sum = script.run(inputs);
        return sum.mul(Tensors.of(sum.getManager(), (float) lossWeight));
    }
}
