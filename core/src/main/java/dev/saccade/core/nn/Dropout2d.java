package dev.saccade.core.nn;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;

import java.util.SplittableRandom;

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
        if (!isTraining() || rate == 0) {
            return x;
        }
        int samples = Math.toIntExact(x.getShape().get(0));
        int channels = Math.toIntExact(x.getShape().get(1));
        String path = path();
        float[] factors = new float[samples * channels];
        for (int n = 0; n < samples; n++) {
            SplittableRandom random = SampleRandom.of(n, path);
            for (int c = 0; c < channels; c++) {
                boolean kept = random.nextDouble() >= rate;
                factors[n * channels + c] = kept ? (float) (1 / (1 - rate)) : 0;
            }
        }
        Shape shape = new Shape(samples, channels, 1, 1);
        return Functional.mul(x, Tensors.of(x.getManager(), factors, shape));
    }
}
