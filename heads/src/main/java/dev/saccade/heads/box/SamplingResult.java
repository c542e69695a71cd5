package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.DynamicShapes;

import java.util.SplittableRandom;

/**
 * The sampled priors of an image, as {@code [N]} boolean masks.
 *
 * @param avgFactorWithNeg whether losses are averaged over both masks, instead of positives only
 */
public record SamplingResult(NDArray posMask, NDArray negMask, boolean avgFactorWithNeg) {

    /**
     * Runs a sampler and returns its result after checks. Checks values only if that does not stall
     * a GPU.
     *
     * @throws SaccadeException of kind user that names the sampler
     */
    public static SamplingResult sample(
            BaseSampler sampler, Assignment assignment, SplittableRandom random) {
        SamplingResult chosen = sampler.sample(assignment, random);
        NDArray gtInds = assignment.gtInds();
        String part = "sampler " + sampler.type();
        Shape each = gtInds.getShape();
        Assignment.requireShape(part, "posMask", chosen.posMask, DataType.BOOLEAN, each);
        Assignment.requireShape(part, "negMask", chosen.negMask, DataType.BOOLEAN, each);
        if (DynamicShapes.areAllowedFor(gtInds)) {
            NDArray unassigned = chosen.posMask.logicalAnd(Functional.lt(gtInds, 1));
            NDArray trained = chosen.posMask.logicalOr(chosen.negMask);
            long[] counts =
                    Tensors.readLongs(
                            NDArrays.stack(
                                    new NDList(
                                            Functional.countNonzero(unassigned),
                                            Functional.countNonzero(trained))));
            if (counts[0] > 0) {
                throw SaccadeException.user(
                        "sampler %s: got %d priors in posMask that are not assigned to an object",
                        sampler.type(), counts[0]);
            }
            if (counts[1] > sampler.num()) {
                throw SaccadeException.user(
                        "sampler %s: got %d priors, expected at most num=%d",
                        sampler.type(), counts[1], sampler.num());
            }
        }
        return chosen;
    }

    /** Returns the loss divisor of an image, a float32 scalar; an empty mask counts as 1. */
    public NDArray avgFactor() {
        NDArray factor = atLeastOne(posMask);
        return Functional.to(
                avgFactorWithNeg ? factor.add(atLeastOne(negMask)) : factor, DataType.FLOAT32);
    }

    private static NDArray atLeastOne(NDArray mask) {
        return Functional.clamp(Functional.countNonzero(mask), 1);
    }

    /**
     * Returns the indices of at most {@code max} samples: positives, then background, each
     * ascending.
     */
    public Positions positions(long max) {
        return Positions.concat(posMask, negMask, max);
    }
}
