package dev.saccade.heads.box;

/**
 * The priors of an image that are trained.
 *
 * @param posInds [P] positions of those that should find an object, ascending
 * @param negInds [M] positions of those that should see background, ascending
 * @param avgFactorWithNeg whether the losses are means over both, or over the positive ones
 */
@SuppressWarnings("ArrayRecordComponent") // plain data on the hot path
public record SamplingResult(int[] posInds, int[] negInds, boolean avgFactorWithNeg) {

    /** Returns how many priors the losses of an image are divided by; none counts as one. */
    public int avgFactor() {
        return Math.max(1, posInds.length) + (avgFactorWithNeg ? Math.max(1, negInds.length) : 0);
    }
}
