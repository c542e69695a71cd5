package dev.saccade.core.nn;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Stochastic depth (Huang et al. 2016): in training, drops a residual branch per sample with
 * probability {@code rate} and scales the remaining ones by {@code 1 / (1 - rate)}.
 */
public final class DropPath extends Layer {

    private final double rate;

    public DropPath(double rate) {
        checkArgument(rate >= 0 && rate < 1, "drop_path_rate: got %s, expected [0, 1)", rate);
        this.rate = rate;
    }

    /** Drops samples of {@code [N, ...]}. */
    @Override
    protected NDArray forward(NDArray x) {
        return isTraining() && rate > 0 ? drop(x, 1, rate, path()) : x;
    }

    /** Drops channels of {@code [N, groups, ...]}, or whole samples if {@code groups} is 1. */
    static NDArray drop(NDArray x, int groups, double rate, String path) {
        float[] factors = new float[Math.toIntExact(x.getShape().get(0)) * groups];
        for (int n = 0; n < factors.length / groups; n++) {
            SplittableRandom random = SampleRandom.of(n, path);
            for (int g = 0; g < groups; g++) {
                boolean isKept = random.nextDouble() >= rate;
                factors[n * groups + g] = isKept ? (float) (1 / (1 - rate)) : 0;
            }
        }
        long[] shape = new long[x.getShape().dimension()];
        Arrays.fill(shape, 1);
        shape[0] = factors.length / groups;
        shape[1] = groups;
        return Functional.mul(x, Tensors.of(x.getManager(), factors, new Shape(shape)));
    }
}
