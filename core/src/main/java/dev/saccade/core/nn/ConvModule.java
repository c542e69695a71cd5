package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;

import java.util.Optional;
import java.util.function.IntFunction;

/**
 * mmdetection's {@code ConvModule}: convolution, optional normalization ({@code bn} or {@code gn}),
 * optional ReLU. The convolution has a bias only without normalization.
 */
public final class ConvModule extends Layer {

    private final Conv2d conv;
    private final Optional<Layer> norm;
    private final boolean relu;

    /** Creates a convolution with bias, without activation. */
    public static ConvModule linear(Geometry geometry, WeightInit init) {
        return new ConvModule(new Conv2d(geometry, init), Optional.empty(), false);
    }

    /** Creates a convolution with bias and ReLU. */
    public static ConvModule relu(Geometry geometry, WeightInit init) {
        return new ConvModule(new Conv2d(geometry, init), Optional.empty(), true);
    }

    /** Creates a convolution with batch normalization, without activation. */
    public static ConvModule normLinear(Geometry geometry, BatchNormType type, WeightInit init) {
        BatchNorm2d norm = new BatchNorm2d(geometry.out(), type);
        return new ConvModule(new Conv2d(geometry, init, null), Optional.of(norm), false);
    }

    /** Creates a convolution with batch normalization and ReLU. */
    public static ConvModule normRelu(Geometry geometry, BatchNormType type) {
        BatchNorm2d norm = new BatchNorm2d(geometry.out(), type);
        return new ConvModule(Conv2d.withoutBias(geometry), Optional.of(norm), true);
    }

    /** Creates a convolution with group normalization and ReLU. */
    public static ConvModule groupNormRelu(Geometry geometry, int groups, WeightInit init) {
        GroupNorm norm = new GroupNorm(groups, geometry.out());
        return new ConvModule(new Conv2d(geometry, init, null), Optional.of(norm), true);
    }

    private ConvModule(Conv2d conv, Optional<Layer> norm, boolean relu) {
        this.conv = add("conv", conv);
        this.norm = norm.map(layer -> add(layer instanceof GroupNorm ? "gn" : "bn", layer));
        this.relu = relu;
    }

    /** Creates a convolution with batch normalization whose children have the given names. */
    public ConvModule(
            String convName, Conv2d conv, String normName, BatchNorm2d norm, boolean relu) {
        this.conv = add(convName, conv);
        this.norm = Optional.of(add(normName, norm));
        this.relu = relu;
    }

    @Override
    protected NDArray forward(NDArray x) {
        return isFused(x)
                ? conv.forwardFused(x, Optional.empty(), relu)
                : finish(conv.apply(x), Optional.empty());
    }

    /** Like {@link #apply}, but adds {@code residual} before the ReLU. */
    public NDArray forwardAdd(NDArray x, NDArray residual) {
        return isFused(x)
                ? conv.forwardFused(x, Optional.of(residual), relu)
                : finish(conv.apply(x), Optional.of(residual));
    }

    private boolean isFused(NDArray x) {
        return (norm.isEmpty() || batchNorm().isPresent()) && conv.isFused(x);
    }

    private Optional<BatchNorm2d> batchNorm() {
        return norm.filter(BatchNorm2d.class::isInstance).map(BatchNorm2d.class::cast);
    }

    @Override
    public void fuse() {
        super.fuse();
        batchNorm().ifPresent(conv::fuse);
    }

    /**
     * Like {@link #apply}; {@code weights} is {@code [N]}, 0 for samples to ignore in batch norm.
     */
    public NDArray forward(NDArray x, NDArray weights) {
        NDArray y = conv.apply(x);
        return norm.isPresent() && norm.get() instanceof BatchNorm2d batchNorm
                ? activate(batchNorm.forward(y, weights))
                : finish(y, Optional.empty());
    }

    /** Normalizes, adds {@code residual}, and applies ReLU. Frees {@code y} if it has a norm. */
    private NDArray finish(NDArray y, Optional<NDArray> residual) {
        if (batchNorm().isPresent()) {
            try (y) {
                return batchNorm().get().forward(y, residual, relu);
            }
        }
        NDArray out = y;
        if (norm.isPresent()) {
            try (y) {
                out = norm.get().apply(y);
            }
        }
        residual.ifPresent(out::addi);
        return activate(out);
    }

    private NDArray activate(NDArray y) {
        return relu ? Functional.reluInPlace(y) : y;
    }

    /**
     * Returns the output for {@code count} maps {@code [N, C_i, H, W]}, as if concatenated along
     * channels. Frees the maps. Unfused, convolves each map before it calls {@code maps} for the
     * next, which saves memory.
     */
    public NDArray forwardConcat(int count, IntFunction<NDArray> maps) {
        NDArray first = maps.apply(0);
        if (!isFused(first)) {
            return finish(convolveEach(first, count, maps), Optional.empty());
        }
        NDList all = new NDList(first);
        for (int i = 1; i < count; i++) {
            all.add(maps.apply(i));
        }
        NDArray x = Tensors.concat(all, 1);
        if (count > 1) {
            all.close();
        }
        try (x) {
            return conv.forwardFused(x, Optional.empty(), relu);
        }
    }

    private NDArray convolveEach(NDArray first, int count, IntFunction<NDArray> maps) {
        NDArray sum;
        long channels;
        try (first) {
            sum = conv.forward(first, 0);
            channels = first.getShape().get(1);
        }
        for (int i = 1; i < count; i++) {
            try (NDArray x = maps.apply(i);
                    NDArray y = conv.forward(x, channels)) {
                channels += x.getShape().get(1);
                sum.addi(y);
            }
        }
        return sum;
    }
}
