package dev.saccade.necks;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.GroupNorm;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.DeformConv2d;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.vision.Interpolation;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;

/**
 * A block of DyHead: every level becomes the mean of deformable convolutions of itself and of its
 * neighbors, each weighed by what it shows, and then a dynamic ReLU.
 *
 * <p>Offsets and masks of all three convolutions are made from the level itself. The next coarser
 * level has fewer cells than they are for; as in mmcv, whose released weights learned it so, its
 * convolution takes the first numbers of the offsets of an image, and of its mask, as if they had
 * been laid out for a map of its size.
 */
final class DyHeadBlock extends Module {

    private static final int KERNEL = 3;

    /** Groups of channels that are normalized together. */
    static final int GROUPS = 16;

    private static final Script OFFSET_AND_MASK =
            Script.compile(
                    "(both: Tensor) -> Tuple[Tensor, Tensor]",
                    """
                    offset = torch.contiguous(torch.slice(both, 1, 0, 18))
                    return (offset, torch.sigmoid(torch.contiguous(torch.slice(both, 1, 18, 27))))
                    """);

    /** The numbers that come first, in the shape of another map. */
    private static final Script FIRST =
            Script.compile(
                    "(numbers: Tensor, map: Tensor) -> Tensor",
                    """
                    n = torch.size(numbers, 0)
                    c = torch.size(numbers, 1)
                    h = torch.size(map, 2)
                    w = torch.size(map, 3)
                    first = torch.slice(torch.flatten(numbers, 1), 1, 0, c * h * w)
                    return torch.reshape(first, [n, c, h, w])
                    """);

    /** Twice as many rows and columns as another map has: of more the first, zeros behind fewer. */
    private static final Script FITTED =
            Script.compile(
                    "(x: Tensor, like: Tensor) -> Tensor",
                    """
                    down = 2 * torch.size(like, 2) - torch.size(x, 2)
                    across = 2 * torch.size(like, 3) - torch.size(x, 3)
                    return torch.constant_pad_nd(x, [0, across, 0, down], 0.)
                    """);

    private static final Script GATED =
            Script.compile(
                    "(x: Tensor, logit: Tensor) -> Tensor",
                    """
                    gate = torch.div(torch.add(torch.relu(logit), 3.), 6.)
                    return torch.mul(x, torch.clamp(gate, 0., 1.))
                    """);

    private static final Script MEAN_OF_MAPS =
            Script.compile(
                    "(maps: List[Tensor]) -> Tensor",
                    """
                    sum = maps[0]
                    for i in range(1, torch.len(maps)):
                      sum = torch.add(sum, maps[i])
                    return torch.div(sum, torch.len(maps))
                    """);

    /**
     * A modulated deformable 3x3 convolution with group normalization. It computes in float32, as
     * torchvision's does: in 16 bits cells could not be told from one another.
     */
    private static final class SpatialConv extends Module {

        private final Conv2d conv;
        private final GroupNorm norm;
        private final DeformConv2d deformed;

        SpatialConv(int in, int out, int stride) {
            WeightInit init = WeightInit.uniform(1 / Math.sqrt(in * KERNEL * KERNEL));
            conv = add("conv", new Conv2d(new Geometry(in, out, KERNEL), init, null));
            norm = add("norm", new GroupNorm(GROUPS, out));
            deformed = new DeformConv2d(stride, 1, 1);
        }

        NDArray forward(NDArray x, NDArray offset, NDArray mask) {
            return Scope.array(
                    () ->
                            Autocast.off(
                                    () ->
                                            norm.apply(
                                                    deformed.run(
                                                            Tensors.toFloat32(x),
                                                            Tensors.toFloat32(offset),
                                                            Tensors.toFloat32(mask),
                                                            conv.weight(),
                                                            null))));
        }

        @Override
        public NDList call(NDList inputs) {
            return new NDList(forward(inputs.get(0), inputs.get(1), inputs.get(2)));
        }
    }

    private final SpatialConv high;
    private final SpatialConv mid;
    private final SpatialConv low;
    private final Conv2d offset;
    private final Conv2d scaleAttention;
    private final DyRelu taskAttention;

    /**
     * Makes a block.
     *
     * @param zeroInitOffset whether no cell is moved at first
     */
    DyHeadBlock(int in, int out, boolean zeroInitOffset) {
        WeightInit init = WeightInit.normal(0.01);
        high = add("spatial_conv_high", new SpatialConv(in, out, 1));
        mid = add("spatial_conv_mid", new SpatialConv(in, out, 1));
        low = add("spatial_conv_low", new SpatialConv(in, out, 2));
        offset =
                add(
                        "spatial_conv_offset",
                        new Conv2d(
                                new Geometry(in, 3 * KERNEL * KERNEL, KERNEL).padding(1),
                                zeroInitOffset ? WeightInit.ZEROS : init));
        scaleAttention = add("scale_attn_module.1", new Conv2d(new Geometry(out, 1, 1), init));
        taskAttention = add("task_attn_module", new DyRelu(out));
    }

    FeaturePyramid forward(FeaturePyramid inputs) {
        List<NDArray> outputs = new ArrayList<>();
        for (int l = 0; l < inputs.size(); l++) {
            int level = l;
            outputs.add(Scope.array(() -> forward(inputs, level)));
        }
        return new FeaturePyramid(outputs);
    }

    private NDArray forward(FeaturePyramid inputs, int level) {
        NDArray x = inputs.get(level);
        NDList both = OFFSET_AND_MASK.runAll(offset.apply(x));
        NDArray moves = both.get(0);
        NDArray mask = both.get(1);
        List<NDArray> maps = new ArrayList<>();
        maps.add(gated(mid.forward(x, moves, mask)));
        if (level > 0) {
            NDArray finer = fitted(inputs.get(level - 1), x);
            maps.add(gated(low.forward(finer, moves, mask)));
        }
        if (level < inputs.size() - 1) {
            NDArray coarser = inputs.get(level + 1);
            NDArray y = high.forward(coarser, FIRST.run(moves, coarser), FIRST.run(mask, coarser));
            maps.add(gated(Interpolation.toSizeOf(x, y, true)));
        }
        return taskAttention.apply(MEAN_OF_MAPS.runLists(List.of(maps)).singletonOrThrow());
    }

    /** Returns a finer map of which a stride of 2 makes one of the size of another. */
    private static NDArray fitted(NDArray finer, NDArray like) {
        Shape shape = finer.getShape();
        Shape half = like.getShape();
        boolean fits =
                (shape.get(2) + 1) / 2 == half.get(2) && (shape.get(3) + 1) / 2 == half.get(3);
        return fits ? finer : FITTED.run(finer, like);
    }

    private NDArray gated(NDArray x) {
        return GATED.run(x, scaleAttention.apply(Functional.channelMeans(x)));
    }

    @Override
    public NDList call(NDList inputs) {
        return new NDList(forward(new FeaturePyramid(inputs)).levels());
    }
}
