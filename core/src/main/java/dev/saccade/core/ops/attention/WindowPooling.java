package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;

/**
 * Pools squares of tokens, weighted by position with the same weights for all channels (Yang et al.
 * 2021).
 *
 * <p>Composed of torch's operators it is a depth-wise convolution, whose backward pass makes the
 * gradient of a kernel for each channel. The fused operator passes by the map once.
 */
public final class WindowPooling {

    private WindowPooling() {}

    /**
     * Pools.
     *
     * @param x {@code [N, H, W, C]}, of whole squares
     * @param weight {@code [1, part^2]}, row-major
     * @param bias {@code [1]}
     * @param part tokens along a side of a square
     * @return {@code [N, H / part, W / part, C]}
     */
    public static NDArray pool(NDArray x, NDArray weight, NDArray bias, int part) {
        if (Kernels.isFusedForFloat32ProductsOnCpu(x)) {
            MultiplyAdds.add(x.size());
            return Script.call("ops.saccade.window_pooling", x, weight, bias, part);
        }
        int channels = (int) x.getShape().get(3);
        NDArray kernel = weight.reshape(1, 1, part, part).broadcast(channels, 1, part, part);
        NDArray biases = bias.broadcast(channels);
        return Functional.conv2d(x.transpose(0, 3, 1, 2), kernel, biases, part, 0, 1, channels)
                .transpose(0, 2, 3, 1);
    }
}
