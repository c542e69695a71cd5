package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;

/** Pools squares of tokens with weights per position, shared by all channels (Yang et al. 2021). */
public final class WindowPooling {

    private WindowPooling() {}

    /**
     * Pools {@code [N, H, W, C]} to {@code [N, H / part, W / part, C]}.
     *
     * @param weight {@code [1, part^2]}, row-major
     * @param bias {@code [1]}
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
