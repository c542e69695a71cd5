package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.ops.Functional;

import java.util.Optional;
import java.util.function.IntFunction;

/**
 * A convolution whose name ends in {@code conv}, as mmdetection wraps every convolution of necks
 * and heads: with a bias, or in its place with a batch normalization named {@code bn} or a group
 * normalization named {@code gn}; with or without a ReLU behind it.
 */
public final class ConvModule extends Layer {

    private final Conv2d conv;
    private final Optional<Layer> norm;
    private final boolean relu;

    /** Makes a convolution with bias, without activation. */
    public static ConvModule linear(Geometry geometry, WeightInit init) {
        return new ConvModule(new Conv2d(geometry, init), Optional.empty(), false);
    }

    /** Makes a convolution with bias and ReLU. */
    public static ConvModule relu(Geometry geometry, WeightInit init) {
        return new ConvModule(new Conv2d(geometry, init), Optional.empty(), true);
    }

    /** Makes a convolution with batch normalization and ReLU. */
    public static ConvModule normRelu(Geometry geometry, BatchNormType type) {
        BatchNorm2d norm = new BatchNorm2d(geometry.out(), type);
        return new ConvModule(Conv2d.withoutBias(geometry), Optional.of(norm), true);
    }

    /**
     * Makes a convolution with group normalization and ReLU.
     *
     * @param groups a divisor of the output channels
     */
    public static ConvModule groupNormRelu(Geometry geometry, int groups, WeightInit init) {
        GroupNorm norm = new GroupNorm(groups, geometry.out());
        return new ConvModule(new Conv2d(geometry, init, null), Optional.of(norm), true);
    }

    private ConvModule(Conv2d conv, Optional<Layer> norm, boolean relu) {
        this.conv = add("conv", conv);
        this.norm = norm.map(layer -> add(layer instanceof GroupNorm ? "gn" : "bn", layer));
        this.relu = relu;
    }

    @Override
    protected NDArray forward(NDArray x) {
        return finish(conv.apply(x));
    }

    /**
     * Returns the output for samples of which some are fillers that no normalization over samples
     * shall see.
     *
     * @param weights {@code [N]} float32: 1, or 0 for a filler
     */
    public NDArray forward(NDArray x, NDArray weights) {
        NDArray y = conv.apply(x);
        return norm.isPresent() && norm.get() instanceof BatchNorm2d batchNorm
                ? activate(batchNorm.forward(y, weights))
                : finish(y);
    }

    private NDArray finish(NDArray y) {
        return activate(norm.isPresent() ? norm.get().apply(y) : y);
    }

    private NDArray activate(NDArray y) {
        return relu ? Functional.reluInPlace(y) : y;
    }

    /**
     * Returns the output for maps that stand one behind another, without joining them.
     *
     * @param count number of maps
     * @param maps makes each of them, {@code [N, C_i, H, W]}; it is freed before the next is made
     */
    public NDArray forwardConcat(int count, IntFunction<NDArray> maps) {
        NDArray sum = null;
        long channels = 0;
        for (int i = 0; i < count; i++) {
            try (NDArray x = maps.apply(i)) {
                NDArray y = conv.forward(x, channels);
                channels += x.getShape().get(1);
                if (sum == null) {
                    sum = y;
                } else {
                    try (y) {
                        sum.addi(y);
                    }
                }
            }
        }
        return finish(sum);
    }
}
