package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

/**
 * A 2-D convolution with square kernel and zero padding; {@code weight} is {@code [out, in, k, k]},
 * {@code bias} is {@code [out]} where there is one.
 */
public final class Conv2d extends Layer {

    private static final Shape NO_DILATION = new Shape(1, 1);

    private final Parameter weight;
    private final Parameter bias;
    private final Shape stride;
    private final Shape padding;

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
        NDArray y =
                x.getNDArrayInternal()
                        .convolution(
                                x,
                                weight.getArray(),
                                bias == null ? null : bias.getArray(),
                                stride,
                                padding,
                                NO_DILATION,
                                1)
                        .singletonOrThrow();
        MultiplyAdds.add(y.size() * weight.getShape().slice(1).size());
        return y;
    }
}
