package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.ops.Functional;

/** Layer normalization over the last axis (Ba et al. 2016). */
public final class LayerNorm extends Layer {

    private final Parameter weight;
    private final Parameter bias;
    private final float eps;

    /** Makes a normalization with PyTorch's eps of 1e-5. */
    public LayerNorm(int channels) {
        this(channels, 1e-5f);
    }

    /** Makes a normalization with an eps of its own. */
    public LayerNorm(int channels, float eps) {
        Shape shape = new Shape(channels);
        this.weight = parameter("weight", shape, WeightInit.ONES);
        this.bias = parameter("bias", shape, WeightInit.ZEROS);
        this.eps = eps;
    }

    /**
     * Normalizes every vector.
     *
     * @param x {@code [..., channels]}
     */
    @Override
    protected NDArray forward(NDArray x) {
        return Functional.layerNorm(x, weight.getArray(), bias.getArray(), eps);
    }

    /**
     * Normalizes every vector of a sum.
     *
     * @param x {@code [..., channels]}
     * @param y the same
     * @return the normalized sum, then the sum
     */
    public NDList forwardSum(NDArray x, NDArray y) {
        return Functional.addLayerNorm(x, y, weight.getArray(), bias.getArray(), eps);
    }
}
