package dev.saccade.necks;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Neck;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.GroupNorm;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.Sequential;
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
 * Dynamic head (Dai et al. 2021) as in mmdetection: blocks with scale-aware, spatial-aware and
 * task-aware attention on the levels of a pyramid.
 *
 * <p>If a level has more than twice the rows or columns of the next level, the excess at the bottom
 * or right is ignored in computing the next level.
 */
public final class DyHead extends Neck {

    private static final int GROUPS = 16;
    private static final int KERNEL = 3;

    /**
     * Settings of a dynamic head.
     *
     * @param outChannels channels of every level, a multiple of 16
     * @param zeroInitOffset whether the offset convolutions are initialized with 0, unlike in the
     *     authors' code
     */
    @Component("dyhead")
    public record Config(
            @Default("256") int outChannels,
            @Default("6") int numBlocks,
            @Default("true") boolean zeroInitOffset)
            implements Neck.Config {

        public Config {
            new Checks()
                    .inRange("out_channels", outChannels, GROUPS, 8192)
                    .inRange("num_blocks", numBlocks, 1, 100)
                    .throwIfAny();
            Checks.require(
                    outChannels % GROUPS == 0,
                    "out_channels",
                    outChannels,
                    "a multiple of %s",
                    GROUPS);
        }

        @Override
        public DyHead build(List<FeatureInfo> features) {
            return new DyHead(this, features);
        }
    }

    /**
     * Modulated deformable 3x3 convolution with group normalization, mmdetection's {@code DyDCNv2}.
     * Computes in float32 like torchvision: 16 bits are too coarse for positions.
     */
    private static final class DyDcnV2 extends Module {

        private final Conv2d conv;
        private final GroupNorm norm;
        private final DeformConv2d deformConv;

        DyDcnV2(int in, int out, int stride) {
            WeightInit init = WeightInit.uniform(1 / Math.sqrt(in * KERNEL * KERNEL));
            conv = add("conv", new Conv2d(new Geometry(in, out, KERNEL), init, null));
            norm = add("norm", new GroupNorm(GROUPS, out));
            deformConv = new DeformConv2d(stride, 1, 1);
        }

        @Override
        public NDList call(NDList inputs) {
            NDList x = new NDList(inputs.stream().map(Tensors::toFloat32).toList());
            return new NDList(
                    norm.apply(deformConv.run(x.get(0), x.get(1), x.get(2), conv.weight(), null)));
        }

        NDArray apply(NDArray x, NDArray offset, NDArray mask) {
            NDList inputs = new NDList(x, offset, mask);
            return Autocast.off(() -> Scope.list(() -> call(inputs))).head();
        }
    }

    /**
     * Convolves every level and its neighbors, multiplies the results by their scale attention, and
     * applies a dynamic ReLU to the mean.
     */
    private static final class Block extends Module {

        private final DyDcnV2 high;
        private final DyDcnV2 mid;
        private final DyDcnV2 low;
        private final Conv2d offset;
        private final Layer scaleAttention;
        private final DyRelu taskAttention;

        Block(int in, int out, boolean zeroInitOffset) {
            WeightInit init = WeightInit.normal(0.01);
            high = add("spatial_conv_high", new DyDcnV2(in, out, 1));
            mid = add("spatial_conv_mid", new DyDcnV2(in, out, 1));
            low = add("spatial_conv_low", new DyDcnV2(in, out, 2));
            Geometry offsets = new Geometry(in, 3 * KERNEL * KERNEL, KERNEL).padding(1);
            WeightInit offsetInit = zeroInitOffset ? WeightInit.ZEROS : init;
            offset = add("spatial_conv_offset", new Conv2d(offsets, offsetInit));
            scaleAttention =
                    add(
                            "scale_attn_module",
                            new Sequential()
                                    .then(Functional::globalAvgPool2d)
                                    .append(new Conv2d(new Geometry(out, 1, 1), init))
                                    .then(Functional::relu)
                                    .then(x -> Functional.div(Functional.add(x, 3), 6))
                                    .then(x -> Functional.clamp(x, 0, 1)));
            taskAttention = add("task_attn_module", new DyRelu(out));
        }

        @Override
        public NDList call(NDList levels) {
            NDList outputs = new NDList();
            for (int l = 0; l < levels.size(); l++) {
                int level = l;
                outputs.add(Scope.array(() -> forward(levels, level)));
            }
            return outputs;
        }

        private NDArray forward(NDList levels, int level) {
            NDArray x = levels.get(level);
            NDArray output = offset.apply(x);
            NDArray offsets = Functional.contiguous(Functional.slice(output, 1, 0, 18));
            NDArray mask =
                    Functional.sigmoid(Functional.contiguous(Functional.slice(output, 1, 18, 27)));
            NDArray sum = scaleAttended(mid.apply(x, offsets, mask));
            int count = 1;
            if (level > 0) {
                sum =
                        sum.add(
                                scaleAttended(
                                        low.apply(
                                                cropOrPad(levels.get(level - 1), x),
                                                offsets,
                                                mask)));
                count++;
            }
            if (level < levels.size() - 1) {
                NDArray next = levels.get(level + 1);
                NDArray y = high.apply(next, firstValues(offsets, next), firstValues(mask, next));
                sum = sum.add(scaleAttended(Interpolation.resizeTo(x, y, true)));
                count++;
            }
            return taskAttention.apply(Functional.div(sum, count));
        }

        private NDArray scaleAttended(NDArray x) {
            return x.mul(scaleAttention.apply(x));
        }

        /**
         * Returns the first values of each image, reshaped to the size of {@code map}. mmcv's
         * operator does so, and the released weights were trained with it.
         */
        private static NDArray firstValues(NDArray x, NDArray map) {
            Shape shape = x.getShape();
            Shape size = map.getShape().slice(2);
            return Functional.slice(Functional.flatten(x, 1), 1, 0, shape.get(1) * size.size())
                    .reshape(shape.get(0), shape.get(1), size.get(0), size.get(1));
        }

        /** Crops or pads a finer map so that stride 2 reduces it to the size of {@code like}. */
        private static NDArray cropOrPad(NDArray finer, NDArray like) {
            Shape size = finer.getShape().slice(2);
            Shape half = like.getShape().slice(2);
            long down = 2 * half.get(0) - size.get(0);
            long across = 2 * half.get(1) - size.get(1);
            boolean fits = (down == 0 || down == 1) && (across == 0 || across == 1);
            return fits ? finer : Functional.pad(finer, List.of(0L, across, 0L, down));
        }
    }

    private final List<FeatureInfo> features;
    private final List<Block> blocks = new ArrayList<>();

    /**
     * Creates an uninitialized dynamic head.
     *
     * @throws IllegalArgumentException if channels differ or a stride is not twice the previous one
     */
    public DyHead(Config config, List<FeatureInfo> inputs) {
        for (int l = 1; l < inputs.size(); l++) {
            FeatureInfo before = inputs.get(l - 1);
            FeatureInfo level = inputs.get(l);
            Checks.require(
                    level.channels() == before.channels() && level.stride() == 2 * before.stride(),
                    "type",
                    "dyhead after levels with "
                            + inputs.stream().map(FeatureInfo::channels).toList()
                            + " channels and strides "
                            + inputs.stream().map(FeatureInfo::stride).toList(),
                    "the same channels in all levels and strides that double; add an fpn:"
                            + " {type: sequential, necks: [{type: fpn}, {type: dyhead}]}");
        }
        int in = inputs.get(0).channels();
        int out = config.outChannels();
        for (int i = 0; i < config.numBlocks(); i++) {
            Block block = new Block(i == 0 ? in : out, out, config.zeroInitOffset());
            blocks.add(add("dyhead_blocks." + i, block));
        }
        features = inputs.stream().map(level -> new FeatureInfo(out, level.stride())).toList();
    }

    @Override
    public List<FeatureInfo> features() {
        return features;
    }

    @Override
    protected FeaturePyramid forward(FeaturePyramid inputs) {
        NDList levels = new NDList(inputs.levels());
        for (Block block : blocks) {
            levels = block.call(levels);
        }
        return new FeaturePyramid(levels);
    }
}
