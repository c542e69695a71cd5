package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.ops.Functional;

/**
 * Transposed 2-D convolution with equal kernel and stride; {@code weight} is {@code [in, out, k,
 * k]}. Outputs do not overlap, so a linear layer and pixel shuffle compute them.
 */
public final class ConvTranspose2d extends Layer {

    private final int kernel;
    private final Parameter weight;
    private final Parameter bias;

    /** Creates a layer with bias 0; {@code kernel} is the upsampling factor. */
    public ConvTranspose2d(int in, int out, int kernel, WeightInit init) {
        this.kernel = kernel;
        this.weight = parameter("weight", new Shape(in, out, kernel, kernel), init);
        this.bias = parameter("bias", new Shape(out), WeightInit.ZEROS);
    }

    /** Maps {@code [N, in, H, W]} to {@code [N, out, k * H, k * W]}. */
    @Override
    protected NDArray forward(NDArray x) {
        NDArray w = weight.getArray();
        NDArray map = w.reshape(w.getShape().get(0), -1).transpose();
        NDArray shift = bias.getArray().repeat((long) kernel * kernel);
        NDArray cells = x.transpose(0, 2, 3, 1);
        NDArray squares = Functional.linear(cells, map, shift);
        return Functional.pixelShuffle(squares.transpose(0, 3, 1, 2), kernel);
    }
}
