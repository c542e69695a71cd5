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
 * The priors of an image that are trained.
 *
 * @param posMask {@code [N]} boolean: those that should find an object
 * @param negMask {@code [N]} boolean: those that should see background
 * @param avgFactorWithNeg whether the losses are means over both, or over the positive ones
 */
public record SamplingResult(NDArray posMask, NDArray negMask, boolean avgFactorWithNeg) {

    /**
     * Returns what a sampler chooses, see {@link BaseSampler#sample}. Values are looked at where
     * that costs nothing.
     *
     * @throws SaccadeException of kind user that names the sampler, if it does not say something of
     *     every prior, or a positive one has no object, or there are too many
     */
    public static SamplingResult by(
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
                        "sampler %s: gave %d priors in its posMask that no object is assigned to",
                        sampler.type(), counts[0]);
            }
            if (counts[1] > sampler.num()) {
                throw SaccadeException.user(
                        "sampler %s: gave %d priors, expected at most its num, %d",
                        sampler.type(), counts[1], sampler.num());
            }
        }
        return chosen;
    }

    /**
     * Returns how many priors the losses of an image are divided by, a scalar of float32; none
     * counts as one.
     */
    public NDArray avgFactor() {
        NDArray factor = atLeastOne(posMask);
        return Functional.to(
                avgFactorWithNeg ? factor.add(atLeastOne(negMask)) : factor, DataType.FLOAT32);
    }

    private static NDArray atLeastOne(NDArray mask) {
        return Functional.clamp(Functional.countNonzero(mask), 1);
    }

    /**
     * Returns where the priors are that are trained: first the positive ones, then background, each
     * ascending.
     *
     * @param most there are at most so many, such as the {@link BaseSampler#num}
     */
    public Positions positions(long most) {
        return Positions.inTurn(posMask, negMask, most);
    }
}
