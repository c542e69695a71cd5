package dev.saccade.core.nn;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;

/**
 * Dropout of whole channels (Tompson et al. 2015): in training, a channel of a sample is 0 with
 * probability {@code rate} and scaled by {@code 1 / (1 - rate)} where it is not.
 */
public final class Dropout2d extends Layer {

    private final double rate;

    /**
     * Makes a layer.
     *
     * @param rate probability of leaving out, in [0, 1)
     */
    public Dropout2d(double rate) {
        checkArgument(rate >= 0 && rate < 1, "dropout_ratio: got %s, expected [0, 1)", rate);
        this.rate = rate;
    }

    /** Keeps or drops each channel of {@code [N, C, H, W]}. */
    @Override
    protected NDArray forward(NDArray x) {
        int channels = Math.toIntExact(x.getShape().get(1));
        return isTraining() && rate > 0 ? DropPath.drop(x, channels, rate, path()) : x;
    }
}
