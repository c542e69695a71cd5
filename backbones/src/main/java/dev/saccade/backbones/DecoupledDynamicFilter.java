package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/**
 * Decoupled dynamic filters (Zhou et al. 2021, "DDF"; {@code DDFPack} of the official code with its
 * defaults): each filter is the product of a filter per channel, predicted from the global average,
 * and a filter per position.
 *
 * <p>Both are normalized over their taps. Maps and tokens are {@code [N, H, W, C]}; zeros surround
 * the map.
 */
final class DecoupledDynamicFilter extends Layer {

    private static final double REDUCTION = 0.2;

    private static final ScriptTemplate NORMALIZE =
            ScriptTemplate.of(
                    "(x: Tensor) -> Tensor",
                    """
                    centered = x - torch.mean(x, [{taps}], True)
                    return centered / (torch.std(x, [{taps}], True, True) + 1.0e-10)
                    """);

    private static final ScriptTemplate FILTER =
            ScriptTemplate.of(
                    "(x: Tensor, channel: Tensor, spatial: Tensor) -> Tensor",
                    """
                    kernel = {kernel}
                    h = torch.size(x, 2)
                    w = torch.size(x, 3)
                    r = kernel // 2
                    padded = torch.constant_pad_nd(x, [r, r, r, r])
                    y = torch.zeros_like(x)
                    for i in range(kernel * kernel):
                      rows = torch.slice(padded, 2, i // kernel, i // kernel + h)
                      near = torch.slice(rows, 3, i % kernel, i % kernel + w)
                      factor = torch.unsqueeze(torch.unsqueeze(torch.select(channel, 2, i), 2), 3)
                      y = y + near * factor * torch.unsqueeze(torch.select(spatial, 1, i), 1)
                    return y * {gain}
                    """);

    private final int kernel;
    private final double gain;
    private final Layer spatial;
    private final Layer channel;

    DecoupledDynamicFilter(int channels, int kernel) {
        this.kernel = kernel;
        int taps = kernel * kernel;
        int hidden = (int) (channels * REDUCTION);
        gain = Math.sqrt(2) / kernel;
        spatial = add("spatial_branch", new Sequential().append("0", pointwise(channels, taps)));
        channel =
                add(
                        "channel_branch",
                        new Sequential()
                                .then(Functional::globalAvgPool2d)
                                .append("1", pointwise(channels, hidden))
                                .then(Functional::reluInPlace)
                                .append("3", pointwise(hidden, channels * taps))
                                .append("4", new ChannelNorm(channels, taps, gain)));
    }

    static void check(int channels, int kernel) {
        Checks.require(
                channels * REDUCTION >= 1, "embed_dim", channels, "at least 5 with filters: ddf");
        Checks.require(kernel > 1, "kernel_size", kernel, "at least 3 with filters: ddf");
    }

    private static Conv2d pointwise(int in, int out) {
        return Conv2d.withDefaultInit(new Geometry(in, out, 1));
    }

    @Override
    protected NDArray forward(NDArray tokens) {
        NDArray x = tokens.transpose(0, 3, 1, 2);
        NDArray perChannel = channel.apply(x);
        NDArray perPosition = normalized(spatial.apply(x), 1);
        return MultiplyAdds.run(
                        2 * x.size() * kernel * kernel,
                        x,
                        x.getShape(),
                        () ->
                                FILTER.with(Map.of("kernel", kernel, "gain", gain))
                                        .run(x, perChannel, perPosition))
                .transpose(0, 2, 3, 1);
    }

    private static NDArray normalized(NDArray filters, int taps) {
        return NORMALIZE.with(Map.of("taps", taps)).run(filters);
    }

    /** Normalizes filters {@code [N, C K^2, 1, 1]} to {@code [N, C, K^2]}, with a gain per tap. */
    private static final class ChannelNorm extends Layer {

        private final Shape shape;
        private final Parameter std;

        ChannelNorm(int channels, int taps, double gain) {
            shape = new Shape(-1, channels, taps);
            std = parameter("std", new Shape((long) channels * taps), WeightInit.normal(gain));
        }

        @Override
        protected NDArray forward(NDArray filters) {
            NDArray gains = std.getArray().reshape(shape.slice(1));
            return normalized(filters.reshape(shape), 2).mul(gains);
        }
    }
}
