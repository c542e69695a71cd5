package dev.saccade.core.nn;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;

import java.util.Arrays;

/**
 * Stochastic depth (Huang et al. 2016): in training, a residual branch is left out for a sample
 * with probability {@code rate} and scaled by {@code 1 / (1 - rate)} where it stays.
 */
public final class DropPath extends Layer {

    private final double rate;

    /**
     * Makes a layer.
     *
     * @param rate probability of leaving out, in [0, 1)
     */
    public DropPath(double rate) {
        checkArgument(rate >= 0 && rate < 1, "drop_path_rate: got %s, expected [0, 1)", rate);
        this.rate = rate;
    }

    /**
     * Keeps or drops each sample.
     *
     * @param x {@code [N, ...]}
     */
    @Override
    protected NDArray forward(NDArray x) {
        if (!isTraining() || rate == 0) {
            return x;
        }
        String path = path();
        float[] factors = new float[Math.toIntExact(x.getShape().get(0))];
        for (int n = 0; n < factors.length; n++) {
            boolean kept = SampleRandom.of(n, path).nextDouble() >= rate;
            factors[n] = kept ? (float) (1 / (1 - rate)) : 0;
        }
        long[] shape = new long[x.getShape().dimension()];
        Arrays.fill(shape, 1);
        shape[0] = factors.length;
        return Functional.mul(x, Tensors.of(x.getManager(), factors, new Shape(shape)));
    }
}
