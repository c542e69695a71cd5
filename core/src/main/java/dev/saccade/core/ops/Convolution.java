package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.MultiplyAdds;

/**
 * libtorch's convolution, the same along height and width.
 *
 * @param stride distance between the cells that the kernel is laid on
 * @param padding zeros added on each side
 * @param dilation distance between the taps of the kernel
 * @param groups groups of channels that do not see each other
 */
public record Convolution(int stride, int padding, int dilation, int groups) {

    /** A dense convolution at every cell, without padding. */
    public Convolution() {
        this(1, 0, 1, 1);
    }

    /** Returns the same with another stride. */
    public Convolution stride(int other) {
        return new Convolution(other, padding, dilation, groups);
    }

    /** Returns the same with other padding. */
    public Convolution padding(int other) {
        return new Convolution(stride, other, dilation, groups);
    }

    /** Returns the same with another dilation. */
    public Convolution dilation(int other) {
        return new Convolution(stride, padding, other, groups);
    }

    /** Returns the same with another number of groups. */
    public Convolution groups(int other) {
        return new Convolution(stride, padding, dilation, other);
    }

    /**
     * Convolves.
     *
     * @param x {@code [N, C, H, W]}
     * @param weight {@code [out, C / groups, k, k]}
     * @param bias {@code [out]}; null for none
     * @return {@code [N, out, (H + 2p - d(k - 1) - 1) / s + 1, (W + 2p - d(k - 1) - 1) / s + 1]}
     */
    public NDArray run(NDArray x, NDArray weight, NDArray bias) {
        Shape map = x.getShape();
        Shape kernel = weight.getShape();
        Shape result =
                new Shape(
                        map.get(0),
                        kernel.get(0),
                        cells(map.get(2), kernel.get(2)),
                        cells(map.get(3), kernel.get(3)));
        return MultiplyAdds.run(
                result.size() * kernel.slice(1).size(),
                x,
                result,
                () ->
                        x.getNDArrayInternal()
                                .convolution(
                                        x,
                                        weight,
                                        bias,
                                        square(stride),
                                        square(padding),
                                        square(dilation),
                                        groups)
                                .singletonOrThrow());
    }

    private long cells(long side, long kernel) {
        return Math.max(0, (side + 2L * padding - dilation * (kernel - 1) - 1) / stride + 1);
    }

    private static Shape square(int side) {
        return new Shape(side, side);
    }
}
