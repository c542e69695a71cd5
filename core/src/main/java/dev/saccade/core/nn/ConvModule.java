package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Activations;
import dev.saccade.core.ops.Scope;

/**
 * A convolution with bias whose name ends in {@code conv}, as mmdetection wraps every convolution
 * of necks and heads; with or without a ReLU behind it.
 */
public final class ConvModule extends Layer {

    private final Conv2d conv;
    private final boolean relu;

    /** Makes a convolution without activation. */
    public static ConvModule linear(
            int in, int out, int kernel, int stride, int padding, WeightInit init) {
        return new ConvModule(new Conv2d(in, out, kernel, stride, padding, init), false);
    }

    /** Makes a convolution with ReLU. */
    public static ConvModule relu(
            int in, int out, int kernel, int stride, int padding, WeightInit init) {
        return new ConvModule(new Conv2d(in, out, kernel, stride, padding, init), true);
    }

    private ConvModule(Conv2d conv, boolean relu) {
        this.conv = add("conv", conv);
        this.relu = relu;
    }

    @Override
    public NDArray forward(NDArray x) {
        return relu ? Scope.array(() -> Activations.relu(conv.forward(x))) : conv.forward(x);
    }
}
