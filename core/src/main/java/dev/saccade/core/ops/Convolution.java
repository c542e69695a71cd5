package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

/**
 * libtorch's convolution.
 *
 * @param stride along height and width
 * @param padding zeros around the map
 * @param dilation distance between the taps of the kernel
 * @param groups groups of channels that do not see each other
 */
public record Convolution(Shape stride, Shape padding, Shape dilation, int groups) {

    /**
     * Convolves.
     *
     * @param x {@code [N, C, H, W]}
     * @param weight {@code [out, C / groups, k, k]}
     * @param bias {@code [out]}; null for none
     * @return {@code [N, out, (H + 2p - k) / s + 1, (W + 2p - k) / s + 1]}
     */
    public NDArray run(NDArray x, NDArray weight, NDArray bias) {
        NDArray y =
                x.getNDArrayInternal()
                        .convolution(x, weight, bias, stride, padding, dilation, groups)
                        .singletonOrThrow();
        MultiplyAdds.add(y.size() * weight.getShape().slice(1).size());
        return y;
    }

    /** Returns the same without strides. */
    public Convolution withoutStride() {
        return new Convolution(new Shape(1, 1), padding, dilation, groups);
    }
}
