package dev.saccade.heads.box;

import dev.saccade.core.SaccadeException;

import java.util.SplittableRandom;

/**
 * The priors of an image that are trained.
 *
 * @param posInds [P] positions of those that should find an object, ascending
 * @param negInds [M] positions of those that should see background, ascending
 * @param avgFactorWithNeg whether the losses are means over both, or over the positive ones
 */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
public record SamplingResult(int[] posInds, int[] negInds, boolean avgFactorWithNeg) {

    /**
     * Returns what a sampler chooses, see {@link Sampler#sample}.
     *
     * @throws SaccadeException of kind user that names the sampler, if positions are not ascending
     *     or not of priors, or a positive one has no object
     */
    public static SamplingResult by(
            Sampler sampler, Assignment assignment, SplittableRandom random) {
        SamplingResult chosen = sampler.sample(assignment, random);
        int[] gtInds = assignment.gtInds();
        requireAscending(sampler, "posInds", chosen.posInds, gtInds.length);
        requireAscending(sampler, "negInds", chosen.negInds, gtInds.length);
        for (int i : chosen.posInds) {
            if (gtInds[i] < 1) {
                throw SaccadeException.user(
                        "sampler %s: gave %d among its posInds, a prior that no object is assigned"
                                + " to",
                        sampler.type(), i);
            }
        }
        return chosen;
    }

    private static void requireAscending(Sampler sampler, String name, int[] positions, int end) {
        int last = -1;
        for (int i : positions) {
            if (i <= last || i >= end) {
                throw SaccadeException.user(
                        "sampler %s: gave %d behind %d among its %s, expected ascending positions"
                                + " of %d priors",
                        sampler.type(), i, last, name, end);
            }
            last = i;
        }
    }

    /** Returns how many priors the losses of an image are divided by; none counts as one. */
    public int avgFactor() {
        return Math.max(1, posInds.length) + (avgFactorWithNeg ? Math.max(1, negInds.length) : 0);
    }
}
