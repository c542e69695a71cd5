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

    /** Creates a normalization with PyTorch's default eps, 1e-5. */
    public LayerNorm(int channels) {
        this(channels, 1e-5f);
    }

    public LayerNorm(int channels, float eps) {
        Shape shape = new Shape(channels);
        this.weight = parameter("weight", shape, WeightInit.ONES);
        this.bias = parameter("bias", shape, WeightInit.ZEROS);
        this.eps = eps;
    }

    /** Normalizes {@code [..., channels]}. */
    @Override
    protected NDArray forward(NDArray x) {
        return Functional.layerNorm(x, weight.getArray(), bias.getArray(), eps);
    }

    /** Returns the normalized sum {@code x + y} ({@code [..., channels]}), and the sum. */
    public NDList forwardSum(NDArray x, NDArray y) {
        return Functional.addLayerNorm(x, y, weight.getArray(), bias.getArray(), eps);
    }
}
