package dev.saccade.necks;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;

/**
 * Dynamic ReLU (Chen et al. 2020) as in mmdetection's DyHead (task-aware attention): the maximum of
 * two linear functions per channel, predicted from the global average.
 */
final class DyRelu extends Layer {

    private static final int RATIO = 4;

    /** Two slopes and two offsets per channel. */
    private static final int EXPANSION = 4;

    private static final Script LINES =
            Script.compile(
                    "(x: Tensor, logits: Tensor) -> Tensor",
                    """
                    gates = torch.clamp(torch.div(torch.add(logits, 3.), 6.), 0., 1.)
                    part = torch.chunk(torch.sub(gates, 0.5), 4, 1)
                    slope = torch.add(torch.mul(part[0], 2.), 1.)
                    first = torch.add(torch.mul(x, slope), part[1])
                    second = torch.add(torch.mul(x, torch.mul(part[2], 2.)), part[3])
                    return torch.maximum(first, second)
                    """);

    private final ConvModule conv1;
    private final ConvModule conv2;

    DyRelu(int channels) {
        WeightInit init = WeightInit.normal(0.01);
        int hidden = channels / RATIO;
        conv1 = add("conv1", ConvModule.relu(new Geometry(channels, hidden, 1), init));
        Geometry lines = new Geometry(hidden, EXPANSION * channels, 1);
        conv2 = add("conv2", ConvModule.linear(lines, init));
    }

    @Override
    protected NDArray forward(NDArray x) {
        return LINES.run(x, conv2.apply(conv1.apply(Functional.globalAvgPool2d(x))));
    }
}
