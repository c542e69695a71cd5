package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;

import java.util.Optional;

/**
 * A convolution of narrow groups of channels that keeps the size of its map, for which libtorch has
 * no fast way on a CPU.
 */
public final class GroupedConvolution {

    /** Channels of the widest group of floats that the operator of {@link Kernels} takes. */
    private static final long WIDEST = 8;

    /** The same of doubles. */
    private static final long WIDEST_OF_DOUBLES = 4;

    private GroupedConvolution() {}

    /**
     * Returns whether this is the way to convolve: where the operator is there, and groups have 2,
     * 4 or 8 channels. What has one channel in each, libtorch does well.
     *
     * @param x {@code [N, C, H, W]}
     * @param weight {@code [C, C / groups, K, K]}
     */
    public static boolean isFusedFor(NDArray x, NDArray weight) {
        long width = weight.getShape().get(1);
        long widest = x.getDataType() == DataType.FLOAT64 ? WIDEST_OF_DOUBLES : WIDEST;
        return width > 1 && width <= widest && Long.bitCount(width) == 1 && Kernels.isFusedFor(x);
    }

    /**
     * Convolves with a stride of 1 and zeros around the map.
     *
     * @param x {@code [N, C, H, W]}
     * @param weight {@code [C, C / groups, K, K]}, K odd
     * @param bias {@code [C]}
     * @return {@code [N, C, H, W]}
     */
    public static NDArray convolve(NDArray x, NDArray weight, Optional<NDArray> bias) {
        return MultiplyAdds.run(
                x.size() * weight.getShape().slice(1).size(),
                x,
                x.getShape(),
                () ->
                        Script.call(
                                        "ops.saccade.grouped_convolution",
                                        x.transpose(0, 2, 3, 1),
                                        weight,
                                        bias.orElse(null))
                                .transpose(0, 3, 1, 2));
    }
}
