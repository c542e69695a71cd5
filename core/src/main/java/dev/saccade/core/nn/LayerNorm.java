package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

/** Layer normalisation over the last axis (Ba et al. 2016). */
public final class LayerNorm extends Layer {

    private final Parameter weight;
    private final Parameter bias;
    private final Shape shape;
    private final float eps;

    /** Makes a normalisation with PyTorch's eps of 1e-5. */
    public LayerNorm(int channels) {
        this(channels, 1e-5f);
    }

    /** Makes a normalisation with an eps of its own. */
    public LayerNorm(int channels, float eps) {
        this.shape = new Shape(channels);
        this.weight = parameter("weight", shape, WeightInit.ONES);
        this.bias = parameter("bias", shape, WeightInit.ZEROS);
        this.eps = eps;
    }

    /**
     * Normalises every vector.
     *
     * @param x {@code [..., channels]}
     */
    @Override
    public NDArray forward(NDArray x) {
        return x.getNDArrayInternal()
                .layerNorm(x, shape, weight.getArray(), bias.getArray(), eps)
                .singletonOrThrow();
    }
}
