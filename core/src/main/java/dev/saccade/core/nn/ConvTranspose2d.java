package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.ops.Functional;

/**
 * A transposed 2-D convolution that enlarges maps: stride as large as the kernel, so that every
 * cell becomes a square of cells; {@code weight} is {@code [in, out, k, k]}, {@code bias} is {@code
 * [out]}.
 *
 * <p>No square overlaps another, so it is a linear map of every cell.
 */
public final class ConvTranspose2d extends Layer {

    private final int kernel;
    private final Parameter weight;
    private final Parameter bias;

    /**
     * Makes a layer with a bias of 0.
     *
     * @param in input channels
     * @param out output channels
     * @param kernel how many times larger the maps become
     * @param init how the weight starts
     */
    public ConvTranspose2d(int in, int out, int kernel, WeightInit init) {
        this.kernel = kernel;
        this.weight = parameter("weight", new Shape(in, out, kernel, kernel), init);
        this.bias = parameter("bias", new Shape(out), WeightInit.ZEROS);
    }

    /**
     * Enlarges.
     *
     * @param x {@code [N, in, H, W]}
     * @return {@code [N, out, kH, kW]}
     */
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
