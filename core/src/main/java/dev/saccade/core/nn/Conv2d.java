package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.ops.Scope;

/**
 * A 2-D convolution with square kernel and zero padding; {@code weight} is {@code [out, in, k, k]},
 * {@code bias} is {@code [out]} where there is one.
 */
public final class Conv2d extends Layer {

    private static final Shape NO_DILATION = new Shape(1, 1);
    private static final Shape NO_STRIDE = new Shape(1, 1);

    /**
     * With fewer input channels, oneDNN (as of libtorch 2.7.1) writes past its buffers in the
     * backward pass of a strided 1x1 convolution whose channels lie innermost.
     */
    private static final int LEAST_CHANNELS_TO_STRIDE = 16;

    private final Parameter weight;
    private final Parameter bias;
    private final Shape stride;
    private final Shape padding;
    private final boolean stridesFirst;

    /**
     * Makes a convolution with a bias of 0.
     *
     * @param in input channels
     * @param out output channels
     * @param kernel kernel size
     * @param stride stride
     * @param padding zeros added on each side
     * @param init how the weight starts
     */
    public Conv2d(int in, int out, int kernel, int stride, int padding, WeightInit init) {
        this(in, out, kernel, stride, padding, init, WeightInit.ZEROS);
    }

    /** Makes a convolution with a bias that starts as given. */
    public Conv2d(
            int in,
            int out,
            int kernel,
            int stride,
            int padding,
            WeightInit init,
            WeightInit biasInit) {
        this.weight = parameter("weight", new Shape(out, in, kernel, kernel), init);
        this.bias = biasInit == null ? null : parameter("bias", new Shape(out), biasInit);
        this.stride = new Shape(stride, stride);
        this.padding = new Shape(padding, padding);
        this.stridesFirst =
                kernel == 1 && stride > 1 && padding == 0 && in < LEAST_CHANNELS_TO_STRIDE;
    }

    /** Makes a convolution without bias, as before a normalisation. */
    public static Conv2d withoutBias(int in, int out, int kernel, int stride, int padding) {
        return new Conv2d(in, out, kernel, stride, padding, WeightInit.kaimingNormal(), null);
    }

    /**
     * Convolves.
     *
     * @param x {@code [N, in, H, W]}
     * @return {@code [N, out, (H + 2p - k) / s + 1, (W + 2p - k) / s + 1]}
     */
    @Override
    public NDArray forward(NDArray x) {
        if (stridesFirst) {
            return Scope.array(() -> convolve(unskippedCells(x), NO_STRIDE));
        }
        return convolve(x, stride);
    }

    /** Leaves out the cells that a strided 1x1 convolution passes over. */
    private NDArray unskippedCells(NDArray x) {
        return x.get(":, :, ::" + stride.get(0) + ", ::" + stride.get(1));
    }

    private NDArray convolve(NDArray x, Shape step) {
        NDArray y =
                x.getNDArrayInternal()
                        .convolution(
                                x,
                                weight.getArray(),
                                bias == null ? null : bias.getArray(),
                                step,
                                padding,
                                NO_DILATION,
                                1)
                        .singletonOrThrow();
        MultiplyAdds.add(y.size() * weight.getShape().slice(1).size());
        return y;
    }
}
