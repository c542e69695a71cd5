package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.ops.Functional;

/** Group normalization (Wu and He 2018). */
public final class GroupNorm extends Layer {

    private final Parameter weight;
    private final Parameter bias;
    private final int groups;

    /** Creates a normalization with PyTorch's default eps, 1e-5. */
    public GroupNorm(int groups, int channels) {
        weight = parameter("weight", new Shape(channels), WeightInit.ONES);
        bias = parameter("bias", new Shape(channels), WeightInit.ZEROS);
        this.groups = groups;
    }

    @Override
    protected NDArray forward(NDArray x) {
        return Functional.groupNorm(x, groups, weight.getArray(), bias.getArray(), 1e-5);
    }
}
