package dev.saccade.core.nn;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;

/**
 * A 2-D convolution with square kernel and zero padding; {@code weight} is {@code [out, in /
 * groups, k, k]}, {@code bias} is {@code [out]} where there is one.
 */
public final class Conv2d extends Layer {

    /**
     * With fewer input channels, oneDNN (as of libtorch 2.7.1) writes past its buffers in the
     * backward pass of a strided 1x1 convolution whose channels lie innermost.
     */
    private static final int MIN_CHANNELS_TO_STRIDE = 16;

    /**
     * Channels and space of a convolution.
     *
     * @param in input channels
     * @param out output channels
     * @param padding zeros added on each side
     * @param dilation distance between the taps of the kernel
     * @param groups number of groups of channels that are convolved separately
     */
    public record Geometry(
            int in, int out, int kernel, int stride, int padding, int dilation, int groups) {

        /** A dense convolution of stride 1 without padding. */
        public Geometry(int in, int out, int kernel) {
            this(in, out, kernel, 1, 0, 1, 1);
        }

        /** Returns a depth-wise convolution that keeps the size of an odd kernel's input. */
        public static Geometry depthwise(int channels, int kernel) {
            return new Geometry(channels, channels, kernel, 1, kernel / 2, 1, channels);
        }

        /** Returns the same geometry with another stride. */
        public Geometry stride(int other) {
            return new Geometry(in, out, kernel, other, padding, dilation, groups);
        }

        /** Returns the same geometry with other padding. */
        public Geometry padding(int other) {
            return new Geometry(in, out, kernel, stride, other, dilation, groups);
        }

        /** Returns the same geometry with another dilation. */
        public Geometry dilation(int other) {
            return new Geometry(in, out, kernel, stride, padding, other, groups);
        }

        /** Returns the same geometry with another number of groups. */
        public Geometry groups(int other) {
            return new Geometry(in, out, kernel, stride, padding, dilation, other);
        }
    }

    private final Parameter weight;
    private final Parameter bias;
    private final Geometry geometry;

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
        int kernel = geometry.kernel;
        Shape shape = new Shape(geometry.out, geometry.in / geometry.groups, kernel, kernel);
        weight = parameter("weight", shape, init);
        bias = biasInit == null ? null : parameter("bias", new Shape(geometry.out), biasInit);
        this.geometry = geometry;
    }

    /** Makes a convolution with a bias, both starting as PyTorch's own layers do. */
    public static Conv2d withDefaultInit(Geometry geometry) {
        int fanIn = geometry.in / geometry.groups * geometry.kernel * geometry.kernel;
        WeightInit uniform = WeightInit.uniform(1 / Math.sqrt(fanIn));
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
        if (geometry.kernel == 1
                && geometry.stride > 1
                && geometry.padding == 0
                && geometry.in < MIN_CHANNELS_TO_STRIDE) {
            String strided = "::" + geometry.stride;
            NDArray cells = x.get(":, :, " + strided + ", " + strided);
            return conv2d(cells, weight(), bias(), geometry.stride(1));
        }
        return losesGradients(x)
                ? Autocast.off(() -> conv2d(Tensors.toFloat32(x), weight(), bias(), geometry))
                : conv2d(x, weight(), bias(), geometry);
    }

    private static NDArray conv2d(NDArray x, NDArray weight, NDArray bias, Geometry how) {
        return Functional.conv2d(
                x, weight, bias, how.stride, how.padding, how.dilation, how.groups);
    }

    /**
     * Returns whether oneDNN (as of libtorch 2.7.1) would read memory that nothing was written to
     * in the backward pass: of a map narrower than the stride, in bfloat16.
     */
    private boolean losesGradients(NDArray x) {
        Device device = x.getDevice();
        return x.getShape().get(3) < geometry.stride
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
        return conv2d(x, part, first == 0 ? bias() : null, geometry);
    }

    private NDArray bias() {
        return bias == null ? null : bias.getArray();
    }
}
