package dev.saccade.core.nn;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;

/**
 * Dropout of whole channels (Tompson et al. 2015): in training, drops a channel of a sample with
 * probability {@code rate} and scales the remaining ones by {@code 1 / (1 - rate)}.
 */
public final class Dropout2d extends Layer {

    private final double rate;

    public Dropout2d(double rate) {
        checkArgument(rate >= 0 && rate < 1, "dropout_ratio: got %s, expected [0, 1)", rate);
        this.rate = rate;
    }

    /** Drops channels of {@code [N, C, H, W]}. */
    @Override
    protected NDArray forward(NDArray x) {
        int channels = Math.toIntExact(x.getShape().get(1));
        return isTraining() && rate > 0 ? DropPath.drop(x, channels, rate, path()) : x;
    }
}
