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
import dev.saccade.core.ops.vision.Interpolation;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;

/**
 * A block of DyHead: every level becomes the mean of deformable convolutions of itself and of its
 * neighbors, each weighted by its content, followed by a dynamic ReLU.
 *
 * <p>Offsets and masks of all three convolutions are computed from the level itself. The next
 * coarser level has fewer cells; as in mmcv, with which the released weights were trained, its
 * convolution takes the first values of the offsets of an image, and of its mask, as if they had
 * been laid out for a map of its size.
 */
final class DyHeadBlock extends Module {

    private static final int KERNEL = 3;

    /** Groups of channels that are normalized together. */
    static final int GROUPS = 16;

    /**
     * A modulated deformable 3x3 convolution with group normalization. It computes in float32, as
     * torchvision's does: 16 bits cannot tell cells apart.
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

        private NDArray forward(NDArray x, NDArray offset, NDArray mask) {
            NDArray y =
                    deformed.run(
                            Tensors.toFloat32(x),
                            Tensors.toFloat32(offset),
                            Tensors.toFloat32(mask),
                            conv.weight(),
                            null);
            return norm.apply(y);
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
     * Creates a block.
     *
     * @param zeroInitOffset whether the initial offsets are 0
     */
    DyHeadBlock(int in, int out, boolean zeroInitOffset) {
        WeightInit init = WeightInit.normal(0.01);
        high = add("spatial_conv_high", new SpatialConv(in, out, 1));
        mid = add("spatial_conv_mid", new SpatialConv(in, out, 1));
        low = add("spatial_conv_low", new SpatialConv(in, out, 2));
        Geometry offsets = new Geometry(in, 3 * KERNEL * KERNEL, KERNEL).padding(1);
        WeightInit offsetInit = zeroInitOffset ? WeightInit.ZEROS : init;
        offset = add("spatial_conv_offset", new Conv2d(offsets, offsetInit));
        scaleAttention = add("scale_attn_module.1", new Conv2d(new Geometry(out, 1, 1), init));
        taskAttention = add("task_attn_module", new DyRelu(out));
    }

    FeaturePyramid apply(FeaturePyramid inputs) {
        List<NDArray> outputs = new ArrayList<>();
        for (int l = 0; l < inputs.size(); l++) {
            int level = l;
            outputs.add(Scope.array(() -> forward(inputs, level)));
        }
        return new FeaturePyramid(outputs);
    }

    private NDArray forward(FeaturePyramid inputs, int level) {
        NDArray x = inputs.get(level);
        NDArray both = offset.apply(x);
        NDArray moves = Functional.contiguous(Functional.slice(both, 1, 0, 18));
        NDArray mask = Functional.sigmoid(Functional.contiguous(Functional.slice(both, 1, 18, 27)));
        NDArray sum = gated(mid, x, moves, mask);
        int count = 1;
        if (level > 0) {
            sum = sum.add(gated(low, fitted(inputs.get(level - 1), x), moves, mask));
            count++;
        }
        if (level < inputs.size() - 1) {
            NDArray coarser = inputs.get(level + 1);
            NDArray y = convolved(high, coarser, first(moves, coarser), first(mask, coarser));
            sum = sum.add(gated(Interpolation.toSizeOf(x, y, true)));
            count++;
        }
        return taskAttention.apply(Functional.div(sum, count));
    }

    private static NDArray convolved(SpatialConv conv, NDArray x, NDArray moves, NDArray mask) {
        return Autocast.off(() -> Scope.array(() -> conv.forward(x, moves, mask)));
    }

    private NDArray gated(SpatialConv conv, NDArray x, NDArray moves, NDArray mask) {
        return gated(convolved(conv, x, moves, mask));
    }

    private NDArray gated(NDArray x) {
        NDArray logit = scaleAttention.apply(Functional.channelMeans(x));
        NDArray gate = Functional.div(Functional.add(Functional.relu(logit), 3), 6);
        return x.mul(Functional.clamp(gate, 0, 1));
    }

    /** Returns the first values in the shape of another map. */
    private static NDArray first(NDArray x, NDArray map) {
        Shape shape = x.getShape();
        Shape size = map.getShape();
        long count = shape.get(1) * size.get(2) * size.get(3);
        return Functional.slice(Functional.flatten(x, 1), 1, 0, count)
                .reshape(shape.get(0), shape.get(1), size.get(2), size.get(3));
    }

    /** Crops or pads a finer map to the size of which a stride of 2 makes that of another. */
    private static NDArray fitted(NDArray finer, NDArray like) {
        Shape shape = finer.getShape();
        Shape half = like.getShape();
        boolean fits =
                (shape.get(2) + 1) / 2 == half.get(2) && (shape.get(3) + 1) / 2 == half.get(3);
        long down = 2 * half.get(2) - shape.get(2);
        long across = 2 * half.get(3) - shape.get(3);
        return fits ? finer : Functional.pad(finer, List.of(0L, across, 0L, down));
    }

    @Override
    public NDList call(NDList inputs) {
        return new NDList(apply(new FeaturePyramid(inputs)).levels());
    }
}
