package dev.saccade.core.nn;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Convolution;
import dev.saccade.core.ops.GroupedConvolution;
import dev.saccade.core.ops.Tensors;

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
     * @param convolution how the kernel passes over the map
     */
    public record Geometry(int in, int out, int kernel, Convolution convolution) {

        /** A dense convolution of stride 1 without padding, from which others differ by name. */
        public Geometry(int in, int out, int kernel) {
            this(in, out, kernel, new Convolution());
        }

        /** Returns a depth-wise convolution that keeps the size of an odd kernel's input. */
        public static Geometry depthwise(int channels, int kernel) {
            return new Geometry(channels, channels, kernel).padding(kernel / 2).groups(channels);
        }

        /** Returns the same with another stride. */
        public Geometry stride(int stride) {
            return with(convolution.stride(stride));
        }

        /** Returns the same with zeros added on each side. */
        public Geometry padding(int padding) {
            return with(convolution.padding(padding));
        }

        /** Returns the same with another distance between the taps of the kernel. */
        public Geometry dilation(int dilation) {
            return with(convolution.dilation(dilation));
        }

        /** Returns the same with groups of channels that do not see each other. */
        public Geometry groups(int groups) {
            return with(convolution.groups(groups));
        }

        private Geometry with(Convolution other) {
            return new Geometry(in, out, kernel, other);
        }

        /** Returns the stride. */
        public int stride() {
            return convolution.stride();
        }

        private int padding() {
            return convolution.padding();
        }

        private int groups() {
            return convolution.groups();
        }

        private int fanIn() {
            return in / groups() * kernel * kernel;
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
     * @param geometry what it does with space and channels
     * @param init how the weight starts
     */
    public Conv2d(Geometry geometry, WeightInit init) {
        this(geometry, init, WeightInit.ZEROS);
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
        convolution = geometry.convolution();
        stridesFirst =
                kernel == 1
                        && geometry.stride() > 1
                        && geometry.padding() == 0
                        && geometry.in() < LEAST_CHANNELS_TO_STRIDE;
        keepsSize =
                geometry.in() == out
                        && kernel % 2 == 1
                        && geometry.stride() == 1
                        && convolution.dilation() == 1
                        && geometry.padding() == kernel / 2;
    }

    /** Makes a convolution with a bias, both starting as PyTorch's own layers do. */
    public static Conv2d withDefaultInit(Geometry geometry) {
        WeightInit uniform = WeightInit.uniform(1 / Math.sqrt(geometry.fanIn()));
        return new Conv2d(geometry, uniform, uniform);
    }

    /** Makes a convolution without bias, as before a normalization. */
    public static Conv2d withoutBias(Geometry geometry) {
        return new Conv2d(geometry, WeightInit.kaimingNormal(), null);
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
    protected NDArray forward(NDArray x) {
        if (keepsSize && GroupedConvolution.isFusedFor(x, weight())) {
            return GroupedConvolution.convolve(x, weight(), Optional.ofNullable(bias()));
        }
        if (stridesFirst) {
            return convolution.stride(1).run(unskippedCells(x), weight(), bias());
        }
        if (losesGradients(x)) {
            return Autocast.off(() -> convolution.run(Tensors.toFloat32(x), weight(), bias()));
        }
        return convolution.run(x, weight(), bias());
    }

    /**
     * Returns whether oneDNN (as of libtorch 2.7.1) would read memory that nothing was written to
     * in the backward pass: of a map narrower than the stride, in bfloat16.
     */
    private boolean losesGradients(NDArray x) {
        Device device = x.getDevice();
        return x.getShape().get(3) < convolution.stride()
                && !device.isGpu()
                && Autocast.precision(device) == Precision.BFLOAT16;
    }

    /**
     * Returns what some of the input channels add to the output; the first of them add the bias.
     *
     * @param x {@code [N, C, H, W]}, the input channels from {@code first} on
     */
    NDArray forward(NDArray x, long first) {
        long end = first + x.getShape().get(1);
        NDArray part = weight().get(":, " + first + ":" + end);
        return convolution.run(x, part, first == 0 ? bias() : null);
    }

    private NDArray bias() {
        return bias == null ? null : bias.getArray();
    }

    /** Leaves out the cells that a strided 1x1 convolution passes over. */
    private NDArray unskippedCells(NDArray x) {
        String strided = "::" + convolution.stride();
        return x.get(":, :, " + strided + ", " + strided);
    }
}
