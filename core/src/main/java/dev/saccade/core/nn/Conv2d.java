package dev.saccade.core.nn;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;

import java.util.Optional;
import java.util.function.Supplier;

/** 2-D convolution with zero padding; {@code weight} is {@code [out, in / groups, k, k]}. */
public final class Conv2d extends Quantizable<FusedConv2d> {

    /**
     * With fewer input channels, oneDNN (in libtorch 2.7.1) writes past its buffers in the backward
     * pass of a strided 1x1 convolution in channels-last format.
     */
    private static final int MIN_CHANNELS_TO_STRIDE = 16;

    /** Geometry of a convolution with a square kernel. */
    public record Geometry(
            int in, int out, int kernel, int stride, int padding, int dilation, int groups) {

        /** Creates a geometry with stride 1, no padding, no dilation and one group. */
        public Geometry(int in, int out, int kernel) {
            this(in, out, kernel, 1, 0, 1, 1);
        }

        /** Returns a depth-wise geometry that keeps the input size if {@code kernel} is odd. */
        public static Geometry depthwise(int channels, int kernel) {
            return new Geometry(channels, channels, kernel, 1, kernel / 2, 1, channels);
        }

        /** Returns {@code [N, out, h, w]} for an input {@code [N, in, H, W]}. */
        Shape outputShape(Shape x) {
            return Functional.conv2dShape(
                    x, new Shape(out, in / groups, kernel, kernel), stride, padding, dilation);
        }

        Geometry in(int other) {
            return new Geometry(other, out, kernel, stride, padding, dilation, groups);
        }

        public Geometry stride(int other) {
            return new Geometry(in, out, kernel, other, padding, dilation, groups);
        }

        public Geometry padding(int other) {
            return new Geometry(in, out, kernel, stride, other, dilation, groups);
        }

        public Geometry dilation(int other) {
            return new Geometry(in, out, kernel, stride, padding, other, groups);
        }

        public Geometry groups(int other) {
            return new Geometry(in, out, kernel, stride, padding, dilation, other);
        }
    }

    private final Parameter bias;
    private Parameter weight;
    private Geometry geometry;
    private Optional<FusedConv2d> fused = Optional.empty();
    private boolean isHidden;
    private boolean foldsNorm;
    private Supplier<NDList> foldedWeights;

    /** Creates a convolution with bias 0. */
    public Conv2d(Geometry geometry, WeightInit init) {
        this(geometry, init, WeightInit.ZEROS);
    }

    /** Creates a convolution; without bias if {@code biasInit} is null. */
    public Conv2d(Geometry geometry, WeightInit init, WeightInit biasInit) {
        int kernel = geometry.kernel;
        Shape shape = new Shape(geometry.out, geometry.in / geometry.groups, kernel, kernel);
        weight = parameter("weight", shape, init);
        bias = biasInit == null ? null : parameter("bias", new Shape(geometry.out), biasInit);
        this.geometry = geometry;
    }

    /** Creates a convolution with PyTorch's default initialization. */
    public static Conv2d withDefaultInit(Geometry geometry) {
        int fanIn = geometry.in / geometry.groups * geometry.kernel * geometry.kernel;
        WeightInit uniform = WeightInit.uniform(1 / Math.sqrt(fanIn));
        return new Conv2d(geometry, uniform, uniform);
    }

    /** Creates a convolution without bias, with Kaiming initialization. */
    public static Conv2d withoutBias(Geometry geometry) {
        return new Conv2d(geometry, WeightInit.kaimingNormal(), null);
    }

    /** Returns whether this is a first layer of RGB images. */
    boolean isRgb() {
        return geometry.in == InputLayers.RGB && geometry.groups == 1;
    }

    /** Changes the input channels; before initialization. */
    void setInChannels(int channels) {
        geometry = geometry.in(channels);
        int kernel = geometry.kernel;
        weight = reshape("weight", new Shape(geometry.out, channels, kernel, kernel));
    }

    /** Marks this layer, which is not part of a {@link ConvModule}, as no output of the model. */
    public Conv2d asHidden() {
        isHidden = true;
        return this;
    }

    /** Returns the weight, {@code [out, in / groups, k, k]}. */
    public NDArray weight() {
        return weight.getArray();
    }

    /**
     * Maps {@code [N, in, H, W]} to {@code [N, out, h, w]}; sizes as in {@link Functional#conv2d}.
     */
    @Override
    protected NDArray forward(NDArray x) {
        if (!foldsNorm && isFused(x)) {
            return convolveFused(x, Optional.empty(), false);
        }
        if (geometry.kernel == 1
                && geometry.stride > 1
                && geometry.padding == 0
                && geometry.in < MIN_CHANNELS_TO_STRIDE) {
            String strided = "::" + geometry.stride;
            NDArray cells = x.get(":, :, " + strided + ", " + strided);
            return conv2d(cells, weight(), bias(), geometry.stride(1));
        }
        return needsFloat32(x)
                ? Autocast.off(() -> conv2d(Tensors.toFloat32(x), weight(), bias(), geometry))
                : conv2d(x, weight(), bias(), geometry);
    }

    /** {@inheritDoc} Packs the weights. */
    @Override
    public void fuse() {
        unfuse();
        fuse(() -> new NDList(weight(), biasOrZeros()));
    }

    /** Packs the weights with the inference-mode transform of a batch normalization. */
    void fuse(BatchNorm2d norm) {
        unfuse();
        fuse(() -> folded(norm.affine()));
        foldsNorm = true;
    }

    private void fuse(Supplier<NDList> weights) {
        foldedWeights = weights;
        fused = Optional.of(new FusedConv2d(geometry, isQuantized(), isOutput(), weights));
    }

    @Override
    FusedConv2d quantizedCopy() {
        return new FusedConv2d(geometry, true, isOutput(), foldedWeights);
    }

    /** {@inheritDoc} Output layers are only computed with bfloat16 products. */
    @Override
    boolean isQuantizable() {
        return FusedConv2d.isWinograd(geometry)
                || (!isOutput() && FusedConv2d.supportsInt8(geometry));
    }

    @Override
    boolean isOutput() {
        return !isHidden && !(parent() instanceof ConvModule);
    }

    private NDList folded(NDList affine) {
        NDArray scale = affine.get(0);
        return new NDList(
                weight().mul(scale.reshape(-1, 1, 1, 1)),
                affine.get(1).add(biasOrZeros().mul(scale)));
    }

    private NDArray biasOrZeros() {
        return bias == null ? weight().getManager().zeros(new Shape(geometry.out)) : bias();
    }

    /** Returns whether to call {@link #forwardFused} for an input instead of {@link #apply}. */
    boolean isFused(NDArray x) {
        return fused.isPresent() && fused.get().supports(x);
    }

    /**
     * Returns the convolution with the normalization of {@link #fuse(BatchNorm2d)}, plus {@code
     * residual}, then ReLU if {@code relu}.
     */
    NDArray forwardFused(NDArray x, Optional<NDArray> residual, boolean relu) {
        return LayerProfile.run(this, x, () -> convolveFused(x, residual, relu));
    }

    private NDArray convolveFused(NDArray x, Optional<NDArray> residual, boolean relu) {
        NDArray y = fused.orElseThrow().apply(x, residual, relu);
        return Quantization.observe(this, y, other -> other.apply(x, residual, relu));
    }

    @Override
    protected void unfuse() {
        fused.ifPresent(FusedConv2d::close);
        fused = Optional.empty();
        foldsNorm = false;
    }

    private static NDArray conv2d(NDArray x, NDArray weight, NDArray bias, Geometry how) {
        return Functional.conv2d(
                x, weight, bias, how.stride, how.padding, how.dilation, how.groups);
    }

    /**
     * Returns whether bfloat16 maps are narrower than the stride, so that oneDNN (in libtorch
     * 2.7.1) would read uninitialized memory in the backward pass.
     */
    private boolean needsFloat32(NDArray x) {
        Device device = x.getDevice();
        return x.getShape().get(3) < geometry.stride
                && !device.isGpu()
                && Autocast.precision(device) == Precision.BFLOAT16;
    }

    /**
     * Returns the contribution of some input channels to the output. {@code x} is {@code [N, C, H,
     * W]}, the channels from {@code first} on; adds the bias if {@code first} is 0.
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
