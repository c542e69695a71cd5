package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/**
 * Pools squares of tokens, weighted by position with the same weights for all channels (Yang et al.
 * 2021).
 *
 * <p>Composed of torch's operators it is a depth-wise convolution, whose backward pass makes the
 * gradient of a kernel for each channel. The fused operator passes by the map once.
 */
public final class WindowPooling {

    private static final String SIGNATURE = "(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor";

    private static final ScriptTemplate CONVOLVE =
            ScriptTemplate.of(
                    SIGNATURE,
                    """
                    part = {part}
                    c = torch.size(x, 3)
                    kernel = torch.expand(torch.reshape(weight, [1, 1, part, part]), [c, 1, part, part])
                    y = torch.conv2d(torch.permute(x, [0, 3, 1, 2]), kernel, torch.expand(bias, [c]), [part, part], [0, 0], [1, 1], c)
                    return torch.permute(y, [0, 2, 3, 1])
                    """);

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
        MultiplyAdds.add(x.size());
        return Kernels.isFusedForProductsOnCpu(x)
                ? Script.call("ops.saccade.window_pooling", x, weight, bias, part)
                : CONVOLVE.with(Map.of("part", part)).run(x, weight, bias);
    }
}
