package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.ops.Convolution;
import dev.saccade.core.ops.GroupedConvolution;
import dev.saccade.core.ops.Scope;

import java.util.Optional;

/**
 * A 2-D convolution with square kernel and zero padding; {@code weight} is {@code [out, in /
 * groups, k, k]}, {@code bias} is {@code [out]} where there is one.
 */
public final class Conv2d extends Layer {

    /**
     * With fewer input channels, oneDNN (as of libtorch 2.7.1) writes past its buffers in the
     * backward pass of a strided 1x1 convolution whose channels lie innermost.
     */
    private static final int LEAST_CHANNELS_TO_STRIDE = 16;

    /**
     * What a convolution does with space and channels.
     *
     * @param in input channels
     * @param out output channels
     * @param kernel kernel size
     * @param stride stride
     * @param padding zeros added on each side
     * @param dilation distance between the taps of the kernel
     * @param groups groups of channels that do not see each other
     */
    public record Geometry(
            int in, int out, int kernel, int stride, int padding, int dilation, int groups) {

        /** A dense convolution whose taps lie side by side. */
        public Geometry(int in, int out, int kernel, int stride, int padding) {
            this(in, out, kernel, stride, padding, 1, 1);
        }

        /** Returns a depth-wise convolution that keeps the size of an odd kernel's input. */
        public static Geometry depthwise(int channels, int kernel) {
            return new Geometry(channels, channels, kernel, 1, kernel / 2, 1, channels);
        }

        private int fanIn() {
            return in / groups * kernel * kernel;
        }
    }

    private final Parameter weight;
    private final Parameter bias;
    private final Convolution convolution;
    private final boolean stridesFirst;
    private final boolean keepsSize;

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
        this(new Geometry(in, out, kernel, stride, padding), init, biasInit);
    }

    /**
     * Makes a convolution.
     *
     * @param geometry what it does with space and channels
     * @param init how the weight starts
     * @param biasInit how the bias starts; null for none
     */
    public Conv2d(Geometry geometry, WeightInit init, WeightInit biasInit) {
        int out = geometry.out();
        int kernel = geometry.kernel();
        Shape shape = new Shape(out, geometry.in() / geometry.groups(), kernel, kernel);
        weight = parameter("weight", shape, init);
        bias = biasInit == null ? null : parameter("bias", new Shape(out), biasInit);
        convolution =
                new Convolution(
                        square(geometry.stride()),
                        square(geometry.padding()),
                        square(geometry.dilation()),
                        geometry.groups());
        stridesFirst =
                kernel == 1
                        && geometry.stride() > 1
                        && geometry.padding() == 0
                        && geometry.in() < LEAST_CHANNELS_TO_STRIDE;
        keepsSize =
                geometry.in() == out
                        && kernel % 2 == 1
                        && geometry.stride() == 1
                        && geometry.dilation() == 1
                        && geometry.padding() == kernel / 2;
    }

    /** Makes a convolution with a bias, both starting as PyTorch's own layers do. */
    public static Conv2d withDefaultInit(Geometry geometry) {
        WeightInit uniform = WeightInit.uniform(1 / Math.sqrt(geometry.fanIn()));
        return new Conv2d(geometry, uniform, uniform);
    }

    /** Makes a convolution without bias, as before a normalization. */
    public static Conv2d withoutBias(int in, int out, int kernel, int stride, int padding) {
        return new Conv2d(in, out, kernel, stride, padding, WeightInit.kaimingNormal(), null);
    }

    /** Returns the weight, {@code [out, in / groups, k, k]}. */
    public NDArray weight() {
        return weight.getArray();
    }

    /**
     * Convolves.
     *
     * @param x {@code [N, in, H, W]}
     * @return {@code [N, out, (H + 2p - k) / s + 1, (W + 2p - k) / s + 1]}
     */
    @Override
    public NDArray forward(NDArray x) {
        if (keepsSize && GroupedConvolution.isFusedFor(x, weight())) {
            return GroupedConvolution.convolve(x, weight(), Optional.ofNullable(bias()));
        }
        if (stridesFirst) {
            return Scope.array(
                    () -> convolution.withoutStride().run(unskippedCells(x), weight(), bias()));
        }
        return convolution.run(x, weight(), bias());
    }

    /**
     * Returns what some of the input channels add to the output; the first of them add the bias.
     *
     * @param x {@code [N, C, H, W]}, the input channels from {@code first} on
     */
    NDArray forward(NDArray x, long first) {
        long end = first + x.getShape().get(1);
        return Scope.array(
                () -> {
                    NDArray part = weight().get(":, " + first + ":" + end);
                    return convolution.run(x, part, first == 0 ? bias() : null);
                });
    }

    private NDArray bias() {
        return bias == null ? null : bias.getArray();
    }

    /** Leaves out the cells that a strided 1x1 convolution passes over. */
    private NDArray unskippedCells(NDArray x) {
        return x.get(
                ":, :, ::" + convolution.stride().get(0) + ", ::" + convolution.stride().get(1));
    }

    private static Shape square(int side) {
        return new Shape(side, side);
    }
}
