package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedMap;

import dev.saccade.core.Checks;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.BatchNorm2d;
import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.parts.Backbone;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.parts.Part;
import dev.saccade.core.parts.Variant;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * ResNet (He et al. 2015) and, with {@code groups}, ResNeXt (Xie et al. 2017) as in mmdetection's
 * {@code style="pytorch"} and torchvision: the stride of a bottleneck sits on its 3x3 convolution.
 * Names are those of torchvision's checkpoints, and with a deep stem those of mmsegmentation's
 * {@code ResNetV1c}.
 */
public final class ResNet extends Backbone {

    private static final ImmutableSortedMap<Integer, ImmutableList<Integer>> BLOCKS_OF_DEPTH =
            ImmutableSortedMap.of(
                    18, ImmutableList.of(2, 2, 2, 2),
                    34, ImmutableList.of(3, 4, 6, 3),
                    50, ImmutableList.of(3, 4, 6, 3),
                    101, ImmutableList.of(3, 4, 23, 3),
                    152, ImmutableList.of(3, 8, 36, 3));

    /**
     * The hyper-parameters of a ResNet or a ResNeXt.
     *
     * @param depth 18, 34, 50, 101 or 152
     * @param stemChannels channels that come out of the stem
     * @param deepStem whether the stem is three 3x3 convolutions, as where ResNets label pixels, in
     *     place of one of 7x7; the first two have half its channels
     * @param baseChannels width of the first stage; the others double it
     * @param groups groups of the 3x3 convolution of a bottleneck, the cardinality of a ResNeXt
     * @param baseWidth channels of a group in the first stage; the others double it. Without
     *     groups, that convolution is as wide as its stage, and this is 64
     * @param outIndices the stages that come out, 0 to 3, ascending
     * @param frozenStages -1 freezes nothing, 0 the stem, k the stem and stages 1 to k
     * @param normEval whether batch normalizations use running statistics in training too, as
     *     detectors that start from pretrained weights do
     * @param norm bn, or sync_bn for statistics over the batches of all ranks, as where ResNets
     *     label pixels
     * @param normEps eps of batch normalization, {@code norm_cfg.eps} in mmdetection
     * @param zeroInitResidual whether the last normalization of every block starts at 0
     */
    @Part("resnet")
    @Variant(name = "resnet18", settings = "depth: 18")
    @Variant(name = "resnet34", settings = "depth: 34")
    @Variant(name = "resnet50")
    @Variant(name = "resnet101", settings = "depth: 101")
    @Variant(name = "resnet152", settings = "depth: 152")
    @Variant(
            name = "resnext50_32x4d",
            settings = {"groups: 32", "base_width: 4"})
    @Variant(
            name = "resnext101_32x4d",
            settings = {"depth: 101", "groups: 32", "base_width: 4"})
    @Variant(
            name = "resnext101_64x4d",
            settings = {"depth: 101", "groups: 64", "base_width: 4"})
    @Variant(
            name = "resnext101_32x8d",
            settings = {"depth: 101", "groups: 32", "base_width: 8"})
    public record Config(
            @Default("50") int depth,
            @Default("64") int stemChannels,
            @Default("false") boolean deepStem,
            @Default("64") int baseChannels,
            @Default("1") int groups,
            @Default("64") int baseWidth,
            @Default("[0, 1, 2, 3]") List<Integer> outIndices,
            @Default("-1") int frozenStages,
            @Default("true") boolean normEval,
            @Default("bn") BatchNormType norm,
            @Default("1e-5") double normEps,
            @Default("true") boolean zeroInitResidual)
            implements Backbone.Config {

        /** Checks the values. */
        public Config {
            outIndices = ImmutableList.copyOf(outIndices);
            new Checks()
                    .within("stem_channels", stemChannels, 1, 8192)
                    .within("base_channels", baseChannels, 1, 8192)
                    .within("groups", groups, 1, 1024)
                    .within("base_width", baseWidth, 1, 8192)
                    .size("out_indices", outIndices, 1, 4)
                    .each("out_indices", outIndices, 0, 3)
                    .ascending("out_indices", outIndices)
                    .within("norm_eps", normEps, 1e-12, 1)
                    .within("frozen_stages", frozenStages, -1, 4)
                    .throwIfAny();
            Checks.require(
                    BLOCKS_OF_DEPTH.containsKey(depth),
                    "depth",
                    depth,
                    "one of %s",
                    BLOCKS_OF_DEPTH.keySet());
            Checks.require(
                    !deepStem || stemChannels % 2 == 0,
                    "stem_channels",
                    stemChannels,
                    "an even number for a deep stem");
            Checks.require(
                    groups == 1 || hasBottlenecks(depth),
                    "groups",
                    groups,
                    "1 at depth %d, whose blocks are no bottlenecks",
                    depth);
            Checks.require(
                    groups > 1 || baseWidth == 64, "base_width", baseWidth, "64 where groups is 1");
        }

        @Override
        public CheckpointRules checkpointRules() {
            return ResNetCheckpoints.RULES;
        }

        @Override
        public ResNet build() {
            return new ResNet(this);
        }

        private static boolean hasBottlenecks(int depth) {
            return depth >= 50;
        }

        private int expansion() {
            return hasBottlenecks(depth) ? 4 : 1;
        }

        /** Returns the channels between the ends of a bottleneck. */
        private int width(int planes) {
            return groups == 1 ? planes : planes / baseChannels * baseWidth * groups;
        }
    }

    private final Config config;
    private final List<Conv2d> stemConvs = new ArrayList<>();
    private final List<BatchNorm2d> stemNorms = new ArrayList<>();
    private final List<List<Block>> stages = new ArrayList<>();
    private final List<Module> frozen = new ArrayList<>();

    /** Makes a ResNet without weights. */
    public ResNet(Config config) {
        this.config = config;
        int in = config.stemChannels();
        if (config.deepStem()) {
            stack("stem.0", "stem.1", new Geometry(3, in / 2, 3).stride(2).padding(1));
            stack("stem.3", "stem.4", new Geometry(in / 2, in / 2, 3).padding(1));
            stack("stem.6", "stem.7", new Geometry(in / 2, in, 3).padding(1));
        } else {
            stack("conv1", "bn1", new Geometry(3, in, 7).stride(2).padding(3));
        }
        for (int s = 0; s < 4; s++) {
            int planes = config.baseChannels() << s;
            List<Block> blocks = new ArrayList<>();
            for (int b = 0; b < BLOCKS_OF_DEPTH.get(config.depth()).get(s); b++) {
                int stride = s > 0 && b == 0 ? 2 : 1;
                blocks.add(add("layer" + (s + 1) + "." + b, new Block(config, in, planes, stride)));
                in = planes * config.expansion();
            }
            stages.add(blocks);
        }
        freezeStages();
        train(true);
    }

    private void stack(String convName, String normName, Geometry geometry) {
        stemConvs.add(add(convName, Conv2d.withoutBias(geometry)));
        stemNorms.add(add(normName, norm(config, geometry.out(), WeightInit.ONES)));
    }

    private static BatchNorm2d norm(Config config, int channels, WeightInit weightInit) {
        return new BatchNorm2d(channels, config.norm(), config.normEps(), weightInit);
    }

    private void freezeStages() {
        if (config.frozenStages() >= 0) {
            frozen.addAll(stemConvs);
            frozen.addAll(stemNorms);
        }
        for (int s = 0; s < config.frozenStages(); s++) {
            frozen.addAll(stages.get(s));
        }
        frozen.forEach(Module::freeze);
    }

    /** A layer a residual block. */
    @Override
    public Map<String, Integer> layers() {
        List<Module> stem = new ArrayList<>(stemConvs);
        stem.addAll(stemNorms);
        List<List<Module>> layers = new ArrayList<>(List.of(stem));
        stages.forEach(blocks -> blocks.forEach(block -> layers.add(List.of(block))));
        return layersOf(layers);
    }

    @Override
    public void train(boolean mode) {
        super.train(mode && !config.normEval());
        frozen.forEach(module -> module.train(false));
    }

    @Override
    protected FeaturePyramid forward(NDArray images) {
        int last = config.outIndices().get(config.outIndices().size() - 1);
        List<NDArray> levels = new ArrayList<>();
        NDArray x = images;
        for (int s = 0; s <= last; s++) {
            x = Scope.chain(x, steps(s));
            if (config.outIndices().contains(s)) {
                levels.add(x);
            }
        }
        return new FeaturePyramid(levels);
    }

    /** Returns what leads to the output of a stage from that of the one before. */
    private List<UnaryOperator<NDArray>> steps(int stage) {
        List<UnaryOperator<NDArray>> steps = new ArrayList<>();
        if (stage == 0) {
            for (int i = 0; i < stemConvs.size(); i++) {
                steps.add(stemConvs.get(i));
                steps.add(stemNorms.get(i));
                steps.add(Functional::reluInPlace);
            }
            steps.add(x -> Functional.maxPool2d(x, 3, 2, 1));
        }
        steps.addAll(stages.get(stage));
        return steps;
    }

    @Override
    public List<FeatureInfo> features() {
        return config.outIndices().stream()
                .map(
                        s ->
                                new FeatureInfo(
                                        (config.baseChannels() << s) * config.expansion(), 4 << s))
                .collect(ImmutableList.toImmutableList());
    }

    /** A residual block: basic (two 3x3) or bottleneck (1x1, 3x3 with stride and groups, 1x1). */
    private static final class Block extends Layer {

        private final List<Conv2d> convs = new ArrayList<>();
        private final List<BatchNorm2d> norms = new ArrayList<>();
        private final Config config;
        private final Optional<Layer> projection;

        Block(Config config, int in, int planes, int stride) {
            this.config = config;
            int out = planes * config.expansion();
            WeightInit last = config.zeroInitResidual() ? WeightInit.ZEROS : WeightInit.ONES;
            if (config.expansion() == 1) {
                stack(threeByThree(in, planes).stride(stride), WeightInit.ONES);
                stack(threeByThree(planes, out), last);
            } else {
                int width = config.width(planes);
                stack(new Geometry(in, width, 1), WeightInit.ONES);
                stack(
                        threeByThree(width, width).stride(stride).groups(config.groups()),
                        WeightInit.ONES);
                stack(new Geometry(width, out, 1), last);
            }
            boolean projects = stride != 1 || in != out;
            projection =
                    projects
                            ? Optional.of(
                                    add("downsample", new Projection(config, in, out, stride)))
                            : Optional.empty();
        }

        private static Geometry threeByThree(int in, int out) {
            return new Geometry(in, out, 3).padding(1);
        }

        private void stack(Geometry geometry, WeightInit normInit) {
            int number = convs.size() + 1;
            convs.add(add("conv" + number, Conv2d.withoutBias(geometry)));
            norms.add(add("bn" + number, norm(config, geometry.out(), normInit)));
        }

        @Override
        protected NDArray forward(NDArray x) {
            NDArray y = x;
            int last = convs.size() - 1;
            for (int i = 0; i < last; i++) {
                y = Functional.reluInPlace(normalized(norms.get(i), convs.get(i), y));
            }
            y = normalized(norms.get(last), convs.get(last), y);
            return Functional.addReluInPlace(y, projection.map(layer -> layer.apply(x)).orElse(x));
        }

        private static NDArray normalized(BatchNorm2d norm, Conv2d conv, NDArray x) {
            return norm.apply(conv.apply(x));
        }
    }

    /** The shortcut of a block that changes size or channels. */
    private static final class Projection extends Layer {

        private final Conv2d conv;
        private final BatchNorm2d norm;

        Projection(Config config, int in, int out, int stride) {
            conv = add("0", Conv2d.withoutBias(new Geometry(in, out, 1).stride(stride)));
            norm = add("1", norm(config, out, WeightInit.ONES));
        }

        @Override
        protected NDArray forward(NDArray x) {
            return norm.apply(conv.apply(x));
        }
    }
}
